#include "env/portable_math.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace berth {
namespace {

// ln 2 = kLn2High + kLn2Low; the high part has 21 trailing zero bits, so k * kLn2High is exact for |k| <
// 2^20.
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;

}  // namespace

// x = m 2^e with m in [1/sqrt 2, sqrt 2); log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716: the series
// in s^2 is below 1e-17 after eleven terms.
double Log(double x) {
  if (std::isnan(x) || x < 0.0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0.0) return -std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return x;
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < 0.70710678118654752440) {
    m *= 2.0;
    --exponent;
  }
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double series = 0.0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 1.0 / k) * z;
  const double e = exponent;
  return e * kLn2High + (2.0 * s + (2.0 * s * series + e * kLn2Low));
}

// x = k ln 2 + r with |r| <= 0.347: Taylor's series of e^r to r^14 (next term 4e-19), scaled by 2^k.
double Exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  if (x < -745.14) return 0.0;
  const double k = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double tail = 0.0;
  for (int n = 14; n >= 2; --n) tail = (tail + 1.0) * r / n;
  return std::ldexp(1.0 + (r + r * tail), static_cast<int>(k));
}

double Pow(double x, double y) {
  if (y == 0.0) return 1.0;
  if (x == 0.0) return y > 0.0 ? 0.0 : std::numeric_limits<double>::infinity();
  return Exp(y * Log(x));
}

}  // namespace berth
