// A number in words and files: 0.1 and not 0.10000000000000001.
#pragma once

#include <charconv>
#include <string>

namespace berth {

// The shortest text that reads back as the same number.
inline std::string Shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace berth
