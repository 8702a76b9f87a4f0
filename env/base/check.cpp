#include "env/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace berth::internal {

void CheckFailed(const char* file, int line, const char* what, const std::string& operands) {
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s\n", file, line, what, operands.empty() ? "" : ": ",
               operands.c_str());
  std::abort();
}

}  // namespace berth::internal
