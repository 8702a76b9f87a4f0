// Hierarchical bootstrap: Davison and Hinkley, Bootstrap Methods and their Application, 1997, §3.8
// (resampling at both levels). Training seeds and workloads are crossed, not nested: each policy runs on each
// workload, so both are drawn once a resample.
#include "tools/reproduce/learned/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"

namespace berth {
namespace {

constexpr int kResamples = 10000;
constexpr Interval kNoInterval{kNoResult, kNoResult, kNoResult};

using Picks = std::vector<std::uint32_t>;

Picks All(std::size_t n) {
  Picks picks(n);
  for (std::size_t i = 0; i < n; ++i) picks[i] = static_cast<std::uint32_t>(i);
  return picks;
}

void Draw(Stream& stream, Picks& picks) {
  for (std::uint32_t& pick : picks) pick = stream.Below(static_cast<std::uint32_t>(picks.size()));
}

Interval Percentiles(double estimate, std::vector<double> resampled) {
  if (resampled.empty()) return {estimate, estimate, estimate};
  std::sort(resampled.begin(), resampled.end());
  return {estimate, Quantile(resampled, 0.025), Quantile(resampled, 0.975)};
}

// The part of the grids that all have.
struct Common {
  std::vector<std::size_t> conditions, workloads;
};

bool HasValue(std::span<const Grid> policies, const Grid& other, std::size_t c, std::size_t w) {
  return !std::isnan(other[c][w]) &&
         std::all_of(policies.begin(), policies.end(), [&](const Grid& p) { return !std::isnan(p[c][w]); });
}

Common CommonPart(std::span<const Grid> policies, const Grid& other) {
  Common common;
  for (std::size_t c = 0; c < other.size(); ++c) {
    int count = 0;
    for (std::size_t w = 0; w < other[c].size(); ++w) count += HasValue(policies, other, c, w);
    if (count >= 2) common.conditions.push_back(c);
  }
  if (common.conditions.empty()) return common;
  for (std::size_t w = 0; w < other[0].size(); ++w) {
    if (std::all_of(common.conditions.begin(), common.conditions.end(),
                    [&](std::size_t c) { return HasValue(policies, other, c, w); })) {
      common.workloads.push_back(w);
    }
  }
  return common;
}

// [conditions that count] ratio of means over the drawn seeds and workloads.
void Ratios(std::span<const Grid> policies, const Grid& other, const Common& common, const Picks& seeds,
            const Picks& workloads, std::vector<double>& ratios) {
  for (std::size_t i = 0; i < common.conditions.size(); ++i) {
    const std::size_t c = common.conditions[i];
    double learned = 0.0, others = 0.0;
    for (const std::uint32_t pick : workloads) {
      const std::size_t w = common.workloads[pick];
      double sum = 0.0;
      for (const std::uint32_t seed : seeds) sum += policies[seed][c][w];
      learned += sum / static_cast<double>(seeds.size());
      others += other[c][w];
    }
    ratios[i] = learned / others;
  }
}

}  // namespace

double Mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Comparison Compare(std::span<const Grid> policies, const Grid& other, std::uint64_t seed) {
  BERTH_CHECK(!policies.empty() && !other.empty(), policies.size(), " policies, ", other.size(),
              " conditions");
  for (const Grid& policy : policies)
    BERTH_CHECK(policy.size() == other.size(), policy.size(), " conditions");
  Comparison result;
  result.overall = kNoInterval;
  result.each.assign(other.size(), kNoInterval);
  const Common common = CommonPart(policies, other);
  result.conditions = static_cast<int>(common.conditions.size());
  result.workloads = static_cast<int>(common.workloads.size());
  if (common.workloads.size() < 2) return result;

  Picks seeds = All(policies.size()), workloads = All(common.workloads.size());
  std::vector<double> ratios(common.conditions.size());
  Ratios(policies, other, common, seeds, workloads, ratios);
  const std::vector<double> estimates = ratios;
  Stream stream(seed, Purpose::kBootstrap);
  std::vector<double> overall;
  std::vector<std::vector<double>> each(ratios.size());
  for (int i = 0; i < kResamples; ++i) {
    if (seeds.size() > 1) Draw(stream, seeds);
    Draw(stream, workloads);
    Ratios(policies, other, common, seeds, workloads, ratios);
    overall.push_back(Mean(ratios));
    for (std::size_t c = 0; c < ratios.size(); ++c) each[c].push_back(ratios[c]);
  }
  result.overall = Percentiles(Mean(estimates), std::move(overall));
  for (std::size_t c = 0; c < ratios.size(); ++c)
    result.each[common.conditions[c]] = Percentiles(estimates[c], std::move(each[c]));
  return result;
}

Grid MeanGrid(std::span<const Grid> policies) {
  BERTH_CHECK(!policies.empty(), "no policies");
  Grid mean = policies[0];
  for (std::size_t c = 0; c < mean.size(); ++c) {
    for (std::size_t w = 0; w < mean[c].size(); ++w) {
      double sum = 0.0;
      for (const Grid& policy : policies) sum += policy[c][w];
      mean[c][w] = sum / static_cast<double>(policies.size());
    }
  }
  return mean;
}

Interval HierarchicalMean(std::span<const std::vector<double>> values, std::uint64_t seed) {
  BERTH_CHECK(!values.empty() && !values[0].empty(), values.size(), " seeds");
  const auto mean = [&](const Picks& seeds, const Picks& workloads) {
    double sum = 0.0;
    for (const std::uint32_t s : seeds) {
      for (const std::uint32_t w : workloads) sum += values[s][w];
    }
    return sum / static_cast<double>(seeds.size() * workloads.size());
  };
  Picks seeds = All(values.size()), workloads = All(values[0].size());
  const double estimate = mean(seeds, workloads);
  if (std::isnan(estimate)) return kNoInterval;
  std::vector<double> resampled;
  Stream stream(seed, Purpose::kBootstrap);
  for (int i = 0; i < kResamples && seeds.size() * workloads.size() > 1; ++i) {
    if (seeds.size() > 1) Draw(stream, seeds);
    if (workloads.size() > 1) Draw(stream, workloads);
    resampled.push_back(mean(seeds, workloads));
  }
  return Percentiles(estimate, std::move(resampled));
}

}  // namespace berth
