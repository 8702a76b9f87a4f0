// What is measured before anything is estimated: some of the ways in which a job type may run, each in a
// profiling run of some seconds. Steps vary in length, so a run of n whole steps measures their rate with an
// error of variation / sqrt(n) (the mean of n independent steps); a run too short for one step measures
// nothing. Sampling a workload for a while before placing it: Quasar, Delimitrou & Kozyrakis, ASPLOS 2014.
#pragma once

#include <cstdint>

#include "env/predict/estimation/partial_matrix.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

struct ProfilingPlan {
  double observed = 0.3;   // each entry is measured with this probability, [0, 1]
  double seconds = 0.0;    // a profiling run; 0 = what is measured is known exactly, at no cost
  double variation = 0.1;  // standard deviation of a step's length over its mean
  std::uint64_t seed = 0;
};

struct Profile {
  PartialMatrix measured;    // a RateMatrix that knows what was measured
  int runs = 0;              // that measured or tried to
  double gpu_seconds = 0.0;  // that they held
};

// Pure: the same plan measures the same. The entries of a smaller `observed` are among those of a larger one.
Profile ProfileRates(const ThroughputTable& truth, int num_types, const ProfilingPlan& plan);

}  // namespace berth
