#include "env/sim/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"

namespace berth {
namespace {

constexpr int kResamples = 10000;

// Percentile bootstrap (Efron 1979) of `statistic` of a resample of indices.
Interval Bootstrap(std::size_t n, std::uint64_t seed, double mean,
                   const std::function<double(const std::vector<std::uint32_t>&)>& statistic) {
  if (n < 2 || std::isnan(mean)) return {mean, mean, mean};
  Stream stream(seed, Purpose::kBootstrap);
  std::vector<std::uint32_t> pick(n);
  std::vector<double> values(kResamples);
  for (double& value : values) {
    for (std::uint32_t& i : pick) i = stream.Below(static_cast<std::uint32_t>(n));
    value = statistic(pick);
  }
  // A resample may have no ratio, of none to none, though all workloads together have one.
  std::erase_if(values, [](double value) { return std::isnan(value); });
  std::sort(values.begin(), values.end());
  return {mean, Quantile(values, 0.025), Quantile(values, 0.975)};
}

// P(|T| <= t) for whole degrees of freedom: finite sums over powers of cos(theta), theta = atan(t / sqrt(n)).
double StudentMass(double t, int degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double c2 = std::cos(theta) * std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(theta) : 1.0, sum = degrees == 1 ? 0.0 : term;
  for (int k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= c2 * (k - 1) / k;
    sum += term;
  }
  return odd ? 2.0 / M_PI * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
}

}  // namespace

Interval BootstrapMean(std::span<const double> values, std::uint64_t seed) {
  BERTH_CHECK(!values.empty(), "no values");
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  return Bootstrap(values.size(), seed, mean, [&](const std::vector<std::uint32_t>& pick) {
    double sum = 0.0;
    for (std::uint32_t i : pick) sum += values[i];
    return sum / n;
  });
}

Interval BootstrapRatio(std::span<const double> a, std::span<const double> b, std::uint64_t seed) {
  BERTH_CHECK(a.size() == b.size() && !a.empty(), a.size(), " and ", b.size(), " values");
  const double ratio = std::accumulate(a.begin(), a.end(), 0.0) / std::accumulate(b.begin(), b.end(), 0.0);
  return Bootstrap(a.size(), seed, ratio, [&](const std::vector<std::uint32_t>& pick) {
    double sum_a = 0.0, sum_b = 0.0;
    for (std::uint32_t i : pick) {
      sum_a += a[i];
      sum_b += b[i];
    }
    return sum_a / sum_b;
  });
}

double StudentT(double confidence, int degrees) {
  BERTH_CHECK(degrees >= 1 && confidence > 0.0 && confidence < 1.0, degrees, " degrees, ", confidence);
  double low = 0.0, high = 1.0;
  while (StudentMass(high, degrees) < confidence) high *= 2.0;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (StudentMass(middle, degrees) < confidence ? low : high) = middle;
  }
  return high;
}

}  // namespace berth
