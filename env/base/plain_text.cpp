#include "env/base/plain_text.hpp"

#include <cctype>
#include <cstdio>

#include "env/base/check.hpp"

namespace berth {
namespace {

// From `at` on the first byte that is of no UTF-8 text (RFC 3629); npos: it is all UTF-8.
std::size_t NotUtf8(std::string_view line, std::size_t at = 0) {
  while (at < line.size()) {
    const auto byte = [&](std::size_t k) {
      return k < line.size() ? static_cast<unsigned char>(line[k]) : 0U;
    };
    const unsigned lead = byte(at), second = byte(at + 1);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xC2 && lead < 0xE0 ? 1
                             : lead >= 0xE0 && lead < 0xF0 ? 2
                                                           : 3;
    if (more == 3 && (lead < 0xF0 || lead > 0xF4)) return at;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((byte(at + k) & 0xC0U) != 0x80) return at;
    }
    // Longer than needed, surrogates, and beyond U+10FFFF.
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90))
      return at;
    at += more + 1;
  }
  return std::string::npos;
}

}  // namespace

std::string NoUtf8In(std::string_view text) {
  const std::size_t at = NotUtf8(text);
  if (at == std::string::npos) return "";
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned>(static_cast<unsigned char>(text[at])));
  return Join(byte, " as byte ", at + 1);
}

std::string AsUtf8(const std::string& text) {
  std::string utf8;
  for (std::size_t begin = 0;;) {
    const std::size_t at = NotUtf8(text, begin);
    utf8.append(text, begin, at - begin);  // npos: to the end
    if (at == std::string::npos) return utf8;
    utf8 += "\xEF\xBF\xBD";
    begin = at + 1;
  }
}

void CheckText(std::string_view line, const std::string& where) {
  if (line.find('\0') != std::string::npos) throw Error(Join(where, ": expected text, found a zero byte"));
  const std::string found = NoUtf8In(line);
  if (found.empty()) return;
  throw Error(Join(where, ": expected UTF-8, found ", found,
                   " of the line (iconv -f latin1 -t utf8 makes UTF-8 of Latin-1)"));
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace berth
