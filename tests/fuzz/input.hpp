// What the targets of coverage-guided fuzzing share: choices out of bytes, files in memory, and what may become of an input.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/check.hpp"

namespace berth::fuzz {

using Bytes = std::span<const std::uint8_t>;

// A property that does not hold: no Error, and so a finding.
[[noreturn]] inline void Fail(const std::string& what) {
  throw std::logic_error(what);
}

// Choices off the front of the bytes; zeros behind their end.
class Input {
 public:
  explicit Input(Bytes bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::uint8_t Byte();
  int Below(int n) { return Byte() % n; }  // 1 <= n <= 256
  bool Coin() { return (Byte() & 1) != 0; }
  // Mostly those at which arithmetic goes wrong: 0, tiny, huge, negative, infinite, NaN; else any.
  double Number();
  std::int64_t Integer();
  std::uint64_t Word();        // eight bytes
  std::string Text(int most);  // up to a zero byte, at most so many
  std::string_view Rest() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  Bytes bytes_;
};

// The path of a file with this content, in a folder in memory that is this process's and is emptied by ClearFiles.
std::string File(const std::string& name, std::string_view content);
std::string Path(const std::string& name);
void ClearFiles();

// Runs it; false where it refused with an Error. Whatever else leaves it is a finding.
template <class F>
bool Accepted(const F& f) {
  try {
    f();
    return true;
  } catch (const Error& error) {
    if (*error.what() == '\0') Fail("an Error without a word");
    return false;
  }
}

// A reader of text, chosen by the input's first byte: '0' is the first one of a table. False = there is none of that number.
struct TextRow {
  std::string name;
  void (*read)(const TextRow& row, const std::string& text);
};
bool RunRow(std::span<const TextRow> rows, Bytes bytes);

// What several files of one reader stand between: "jobs\x1ebeside".
inline constexpr char kNextFile = '\x1e';
std::vector<std::string> Parts(const std::string& text);

}  // namespace berth::fuzz
