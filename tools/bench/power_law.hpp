// How a cost grows: y = c x^k through measured points.
#pragma once

#include <span>

namespace berth::bench {

struct PowerLaw {
  double exponent = 0, factor = 0;  // k, c
  double residual = 0;              // the largest |log(y / c x^k)|: 0.1 = the worst point is 10% off
};

// Least squares of log y over log x. REQUIRES: as many y as x, at least two different x, all > 0.
PowerLaw FitPowerLaw(std::span<const double> x, std::span<const double> y);

}  // namespace berth::bench
