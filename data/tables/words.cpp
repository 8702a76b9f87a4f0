#include "data/tables/words.hpp"

#include <algorithm>
#include <cctype>

namespace berth {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace berth
