#include "env/base/portable_math.hpp"

#include <cmath>
#include <limits>

#include "env/base/exp_core.hpp"
#include "env/base/log_core.hpp"

namespace berth {

double Log(double x) {
  if (std::isnan(x) || x < 0.0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0.0) return -std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return x;
  if (x < std::numeric_limits<double>::min())
    return LogOfNormal(x * 0x1p54, -54.0);  // subnormal: scaled exactly
  return LogOfNormal(x);
}

double Exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  if (x < -745.14) return 0.0;
  const ExpParts parts = ExpOf(x);
  return std::ldexp(1.0 + parts.tail, static_cast<int>(parts.k));
}

double Pow(double x, double y) {
  if (y == 0.0) return 1.0;
  if (x == 0.0) return y > 0.0 ? 0.0 : std::numeric_limits<double>::infinity();
  return Exp(y * Log(x));
}

}  // namespace berth
