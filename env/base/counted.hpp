// Numbers and what they count, for texts: "1 job", "2 jobs".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "env/base/check.hpp"

namespace berth {

// `many` where it is not `one` with an s: Counted(n, "job waits", "jobs wait").
template <std::integral Number>
std::string Counted(Number number, std::string_view one, std::string_view many = {}) {
  if (number == 1) return Join(number, ' ', one);
  return many.empty() ? Join(number, ' ', one, 's') : Join(number, ' ', many);
}

}  // namespace berth
