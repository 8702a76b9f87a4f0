// Intervals over independent workloads: 95%, by the percentile bootstrap. Of few workloads they are too
// narrow (of normal values they cover 75% at 3, 84% at 5, 90% at 10), so 10 workloads or more.
#pragma once

#include <cstdint>
#include <span>

namespace berth {

struct Interval {
  double mean = 0, low = 0, high = 0;
};
// Percentile bootstrap of the mean, 95%, 10,000 resamples, seeded. Fewer than 2 values: low = high = mean.
// All NaN where a value is: a workload without the figure leaves none of all.
Interval BootstrapMean(std::span<const double> values, std::uint64_t seed);
// Ratio of means a / b with workloads resampled in pairs: a[i] and b[i] are of the same workload.
Interval BootstrapRatio(std::span<const double> a, std::span<const double> b, std::uint64_t seed);

// The t with P(|T| <= t) = confidence (Student 1908; Abramowitz & Stegun 26.7.3-4).
double StudentT(double confidence, int degrees);

}  // namespace berth
