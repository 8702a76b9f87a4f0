// Trained policies against one other scheduler on the same workloads: what the tables of `reproduce learned`
// say, by itself.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "env/sim/statistics.hpp"

namespace berth {

// One scheduler, or one trained policy: values[condition][workload], a mean JCT, say; smaller is better. A
// condition is a load. NaN = no result there.
using Grid = std::vector<std::vector<double>>;

inline constexpr double kNoResult = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::uint64_t kBootstrapSeed = 8;  // of all tables

struct Comparison {
  Interval overall;            // of the mean over `conditions` of each one's ratio of means
  std::vector<Interval> each;  // [conditions of the grids] ratio of means; NaN where there is none
  int conditions = 0;          // that count: every grid has the same two workloads or more there
  int workloads = 0;           // of each: those that every grid has in all conditions that count
};

double Mean(const std::vector<double>& values);  // NaN where there are none, or one is

// Ratio of the mean over `policies` (one a training seed) to `other`; all grids of one shape. 95% intervals
// by a percentile bootstrap with 10,000 resamples, hierarchical: training seeds are drawn with replacement,
// then workloads, the same ones for policies, other and all conditions (workloads of one seed may share
// draws at several loads). One policy: over workloads alone.
Comparison Compare(std::span<const Grid> policies, const Grid& other, std::uint64_t seed);

// The mean over policies, so that they are one row beside others; all of one shape.
Grid MeanGrid(std::span<const Grid> policies);

// Mean of one condition over training seeds and workloads, with the same two-fold resampling. NaN where a
// workload has no value.
Interval HierarchicalMean(std::span<const std::vector<double>> values, std::uint64_t seed);

}  // namespace berth
