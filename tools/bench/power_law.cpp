#include "tools/bench/power_law.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"

namespace berth::bench {

PowerLaw FitPowerLaw(std::span<const double> x, std::span<const double> y) {
  BERTH_CHECK(x.size() == y.size() && x.size() >= 2, x.size(), " and ", y.size(), " values");
  const auto n = static_cast<double>(x.size());
  double mean_x = 0.0, mean_y = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    BERTH_CHECK(x[i] > 0.0 && y[i] > 0.0, "a power law has no point (", x[i], ", ", y[i], ")");
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  double xx = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
    xy += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
  }
  BERTH_CHECK(xx > 0.0, "all x are equal");
  PowerLaw law;
  law.exponent = xy / xx;
  const double intercept = mean_y - law.exponent * mean_x;
  law.factor = std::exp(intercept);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = std::log(y[i]) - intercept - law.exponent * std::log(x[i]);
    law.residual = std::max(law.residual, std::abs(off));
  }
  return law;
}

}  // namespace berth::bench
