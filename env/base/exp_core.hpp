// The one exponential: Exp (portable_math.hpp) and Exps (batch_math.hpp) are made of it, so their bits agree.
// Straight-line, so that a compiler makes vectors of it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "env/base/log_core.hpp"

namespace berth {

// e^x = (1 + tail) 2^k.
struct ExpParts {
  double tail, k;
};

// x = k ln 2 + r with |r| <= 0.347: Taylor's series of e^r to r^14 (next term 4e-19). Finite x.
[[gnu::always_inline]] inline ExpParts ExpOf(double x) {
  const double k = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double tail = r / 14.0;
  tail = (tail + 1.0) * r / 13.0;
  tail = (tail + 1.0) * r / 12.0;
  tail = (tail + 1.0) * r / 11.0;
  tail = (tail + 1.0) * r / 10.0;
  tail = (tail + 1.0) * r / 9.0;
  tail = (tail + 1.0) * r / 8.0;
  tail = (tail + 1.0) * r / 7.0;
  tail = (tail + 1.0) * r / 6.0;
  tail = (tail + 1.0) * r / 5.0;
  tail = (tail + 1.0) * r / 4.0;
  tail = (tail + 1.0) * r / 3.0;
  tail = (tail + 1.0) * r / 2.0;
  return {r + r * tail, k};
}

// e^x where 2^k is a normal number: |x| <= 700.
[[gnu::always_inline]] inline double ExpOfModerate(double x) {
  const ExpParts parts = ExpOf(x);
  // k + 1023 as the low bits of 2^52 + k + 1023, moved to where an exponent stands.
  const auto exponent = std::bit_cast<std::uint64_t>(parts.k + (4503599627370496.0 + 1023.0)) << 52;
  return (1.0 + parts.tail) * std::bit_cast<double>(exponent);
}

}  // namespace berth
