// berth::Error where something outside is wrong (a file, an option), BERTH_CHECK where Berth itself is. What
// is merely unwelcome (no allocation fits) is a [[nodiscard]] value, not an error.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace berth {

// The outside is wrong: a file, a flag, a field. One line: where, what was expected, what was found.
// Caught once, in tools/main.cpp, which prints it and exits with 2.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

// Joins anything printable into one string: Join("expected ", 3, ", found ", x).
template <class... Parts>
std::string Join(const Parts&... parts) {
  std::ostringstream out;
  out.precision(17);
  (out << ... << parts);
  return out.str();
}

namespace internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* what, const std::string& operands);
}  // namespace internal

}  // namespace berth

// Always on, at module edges. Extra arguments are printed: BERTH_CHECK(a < b, a, " ", b).
#define BERTH_CHECK(condition, ...)                                                               \
  do {                                                                                            \
    if (!(condition)) [[unlikely]]                                                                \
      ::berth::internal::CheckFailed(__FILE__, __LINE__, #condition, ::berth::Join(__VA_ARGS__)); \
  } while (false)

// In loops: on in debug builds and in tests (BERTH_DEBUG_CHECKS).
#ifdef BERTH_DEBUG_CHECKS
#define BERTH_DCHECK(condition, ...) BERTH_CHECK(condition, __VA_ARGS__)
#else
#define BERTH_DCHECK(condition, ...) \
  do {                               \
  } while (false)
#endif
