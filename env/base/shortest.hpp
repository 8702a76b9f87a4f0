// A number in words and files: 0.1 and not 0.10000000000000001.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace berth {

// The shortest text that reads back as the same number.
inline std::string Shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// The same in words: 10000000 and not 1e+07.
inline std::string InWords(double value) {
  const bool whole =
      value > -1e15 && value < 1e15 && value == static_cast<double>(static_cast<std::int64_t>(value));
  return whole ? std::to_string(static_cast<std::int64_t>(value)) : Shortest(value);
}

}  // namespace berth
