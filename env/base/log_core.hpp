// The one natural logarithm: Log (portable_math.hpp) and Logs (batch_math.hpp) are made of it, so their bits
// agree. Straight-line, so that a compiler makes vectors of it.
#pragma once

#include <bit>
#include <cstdint>

namespace berth {

// ln 2 = kLn2High + kLn2Low; the high part has 21 trailing zero bits, so k * kLn2High is exact for |k| <
// 2^20.
inline constexpr double kLn2High = 6.93147180369123816490e-01;
inline constexpr double kLn2Low = 1.90821492927058770002e-10;

// log(x 2^shift) of a positive, finite, normal x. x = m 2^e with m in [1/sqrt 2, sqrt 2); log m = 2 atanh(s),
// s = (m - 1) / (m + 1), |s| < 0.1716: the series in s^2 is below 1e-17 after eleven terms.
[[gnu::always_inline]] inline double LogOfNormal(double x, double shift = 0.0) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const double half = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3fe0000000000000ULL);
  // The biased exponent as the low bits of 2^52 + exponent: a conversion that vector units have.
  const double exponent =
      std::bit_cast<double>((bits >> 52) | 0x4330000000000000ULL) - 4503599627370496.0 - (1022.0 - shift);
  const bool low = half < 0.70710678118654752440;  // half is in [0.5, 1)
  const double m = low ? half * 2.0 : half;
  const double e = low ? exponent - 1.0 : exponent;
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double series = (1.0 / 23) * z;
  series = (series + 1.0 / 21) * z;
  series = (series + 1.0 / 19) * z;
  series = (series + 1.0 / 17) * z;
  series = (series + 1.0 / 15) * z;
  series = (series + 1.0 / 13) * z;
  series = (series + 1.0 / 11) * z;
  series = (series + 1.0 / 9) * z;
  series = (series + 1.0 / 7) * z;
  series = (series + 1.0 / 5) * z;
  series = (series + 1.0 / 3) * z;
  return e * kLn2High + (2.0 * s + (2.0 * s * series + e * kLn2Low));
}

}  // namespace berth
