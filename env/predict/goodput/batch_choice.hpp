// Which batch a job trains with, and what it then makes of a second: goodput = throughput x statistical
// efficiency (Qiao et al., Pollux, OSDI 2021, section 3). Rounding, and what is tried, as in petuum/adaptdl's
// osdi21-artifact (simulator/goodput.py, `optimize`; simulator/simulator.py, `update_local_bsz`).
//
//   const BatchLimits limits{.initial = 128, .max_total = 4096, .min_atomic = 32, .max_atomic = 1024};
//   const BatchChoice best = BestBatch(limits, BatchCandidates(limits, 8), 8, gradients, model.At({2, 8}));
//   best.split.Total(8), best.goodput
//
// Where the times come from is the caller's: anything that answers times(atomic) with a StepTime, a
// fitted model or a measured table.
#pragma once

#include <span>
#include <vector>

#include "env/predict/goodput/speed_model.hpp"

namespace berth::goodput {

// Samples. 1 <= min_atomic <= max_atomic, 1 <= initial <= max_total.
struct BatchLimits {
  int initial = 1;     // M_0: what progress is counted in
  int max_total = 1;   // of all replicas and accumulation steps
  int min_atomic = 1;  // of a replica at once
  int max_atomic = 1;
  bool operator==(const BatchLimits&) const = default;
};

// Each replica computes `accumulation` + 1 atomic batches a step.
struct BatchSplit {
  int atomic = 0;
  int accumulation = 0;
  int Total(int replicas) const { return replicas * atomic * (accumulation + 1); }
  bool operator==(const BatchSplit&) const = default;
};

// |g|^2 and the trace of the covariance of the gradient, both at the initial batch.
struct GradientStatistics {
  double sqr = 0.0;
  double var = 0.0;
};

// How many steps of the initial batch a step at `scale` times that batch is worth (section 3.1; AdaScale,
// Johnson et al. 2020): (var + sqr) / (var / scale + sqr); 1 where that is not positive.
inline double Gain(const GradientStatistics& gradient, double scale) {
  const double below = gradient.var / scale + gradient.sqr;
  return below > 0.0 ? (gradient.var + gradient.sqr) / below : 1.0;
}
// EFFICIENCY of section 3.1: progress a sample, relative to the initial batch.
// (noise + M_0) / (noise + M), noise = var / sqr x M_0.
inline double Efficiency(const GradientStatistics& gradient, double scale) {
  return Gain(gradient, scale) / scale;
}
// GOODPUT of section 3: THROUGHPUT x EFFICIENCY, samples a second that are worth as much as those of the
// initial batch. Over M_0 it is progress a second in steps of M_0.
double Goodput(const BatchLimits& limits, int replicas, BatchSplit split, const GradientStatistics& gradient,
               const StepTime& time);

// A total batch of `target` over `replicas`, rounded up per replica, so the total may lie above. One replica
// that trains with more than the initial batch accumulates at least once: statistics of the gradient need two
// batches. Not above max_total.
BatchSplit SplitFixed(const BatchLimits& limits, int replicas, int target);
// The same where one replica always accumulates, as the published planners of fixed batches take it.
BatchSplit SplitTuned(const BatchLimits& limits, int replicas, int target);
// The least batch that is allowed, for a job that knows nothing yet.
BatchSplit SplitLeast(const BatchLimits& limits, int replicas);
// `split` with its atomic batch cut to where the total is at most max_total.
BatchSplit WithinMaxTotal(const BatchLimits& limits, int replicas, BatchSplit split);
// replicas that max_total feeds with min_atomic each
inline int MostReplicas(const BatchLimits& limits) {
  return limits.max_total / limits.min_atomic;
}

// The distinct splits of 50 totals in a geometric series from max(initial, min_atomic x replicas) to
// max_total, smallest first; without those whose atomic batch is outside the limits. They depend on nothing
// else, so keep them. A total may lie above max_total by rounding.
std::vector<BatchSplit> BatchCandidates(const BatchLimits& limits, int replicas);

struct BatchChoice {
  double goodput = 0.0;  // as Goodput(); 0 = no candidate
  BatchSplit split;      // not yet WithinMaxTotal, as in adaptdl: a job runs with that of it
};

// argmax over `candidates` of Goodput (section 4.1, at a fixed allocation); the first of equals.
template <typename Times>
BatchChoice BestBatch(const BatchLimits& limits, std::span<const BatchSplit> candidates, int replicas,
                      const GradientStatistics& gradient, const Times& times) {
  BatchChoice best;
  for (const BatchSplit& split : candidates) {
    const double goodput = Goodput(limits, replicas, split, gradient, times(split.atomic));
    if (goodput > best.goodput) best = {goodput, split};
  }
  return best;
}

}  // namespace berth::goodput
