// log, exp and pow whose bits do not depend on the C library: they feed decisions and golden logs.
// Log and Exp are accurate to 2 units in the last place; tests compare with libm.
#pragma once

#include <cmath>

namespace berth {

double Log(double x);  // natural logarithm; x > 0, finite. Log(0) = -inf, Log(<0) = NaN
double Exp(double x);  // e^x; saturates to 0 and +inf
double Pow(double x,
           double y);  // x^y for x >= 0, as Exp(y Log(x)): relative error about 1e-16 (1 + |y Log(x)|)
inline double Log10(double x) {
  return Log(x) * 0.43429448190325182765;
}
inline double Log2(double x) {
  int exponent = 0;
  if (std::frexp(x, &exponent) == 0.5) return exponent - 1;  // powers of two: exactly
  return Log(x) * 1.44269504088896340736;
}

}  // namespace berth
