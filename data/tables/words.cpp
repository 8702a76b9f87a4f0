#include "data/tables/words.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace berth {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool IsUnended(const std::string& state) {
  constexpr const char* kUnended[] = {"pending", "running", "suspended", "requeued_pending", "completing"};
  return std::any_of(std::begin(kUnended), std::end(kUnended),
                     [&](const char* name) { return SameWord(name, state); });
}

}  // namespace berth
