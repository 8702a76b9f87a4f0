// By how much what follows a step counts: exp(-dt / tau).
#pragma once

#include <algorithm>

#include "env/base/portable_math.hpp"

namespace berth {

// `elapsed_s` >= 0. 1 within an instant alone: learners read it as a float and tell by 1 that no time passed.
// So passing time gives at most the largest float below 1, which is 6e-8 less at most.
inline double DiscountOf(double elapsed_s, double tau_s) {
  constexpr double kMost = 1.0 - 0x1p-24;
  return elapsed_s > 0.0 ? std::min(Exp(-elapsed_s / tau_s), kMost) : 1.0;
}

}  // namespace berth
