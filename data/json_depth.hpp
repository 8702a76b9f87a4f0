// JSON that is nested deeper than anybody means it: the parser takes it, but whoever copies, compares or
// writes it calls itself once a level, and so runs out of stack.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// Throws Error that begins with `where`. What is no JSON is not looked for.
void CheckJsonDepth(std::string_view text, const std::string& where);

}  // namespace berth
