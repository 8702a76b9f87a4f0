#include "tools/reproduce/gavel_curve.hpp"

#include "env/base/check.hpp"

namespace berth {

SustainedLoad Sustained(std::span<const LoadPoint> ascending) {
  BERTH_CHECK(!ascending.empty(), "no points");
  const double limit = 2.0 * ascending.front().jct_h;
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    const LoadPoint &below = ascending[i - 1], &above = ascending[i];
    BERTH_CHECK(below.rate < above.rate, below.rate, " before ", above.rate);
    if (above.jct_h < limit) continue;
    return {below.rate + (above.rate - below.rate) * (limit - below.jct_h) / (above.jct_h - below.jct_h),
            true};
  }
  return {ascending.back().rate, false};
}

}  // namespace berth
