// What is text: UTF-8, which JSON, HDF5 and pages of HTML that name things must be. And words of which case
// says nothing.
#pragma once

#include <string>
#include <string_view>

namespace berth {

inline constexpr std::string_view kByteOrderMark =
    "\xEF\xBB\xBF";  // with which spreadsheets and PowerShell begin

// "0xfc as byte 8", the first that is of no UTF-8 text; "" = there is none.
std::string NoUtf8In(std::string_view text);

// Each byte that is of no UTF-8 text as U+FFFD.
std::string AsUtf8(const std::string& text);

// Throws Error "where: expected UTF-8, found 0xfc as byte 8 of the line", or for a zero byte.
void CheckText(std::string_view line, const std::string& where);

std::string Lower(std::string text);  // ASCII letters
inline bool SameWord(const std::string& a, const std::string& b) {
  return Lower(a) == Lower(b);
}

}  // namespace berth
