// The denominators of finish-time fairness and what they remember (gavel/SPEC.md §2): the time that a job
// would have taken alone on its isolated share of the cluster, whose size changes with the number of jobs.
#pragma once

#include <vector>

#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

class IsolatedProgress {
 public:
  void Reset() { memory_.clear(); }
  // [m] D_i, s: what the progress up to here is worth on the isolated shares of each call's time, and the
  // rest on today's. Every job must have steps left.
  std::vector<double> Advance(const Problem& problem);

 private:
  struct Memory {             // of a job, by its key
    double cumulative = 0.0;  // s alone on its isolated share that its progress so far is worth
    double remaining = 0.0, isolated = 0.0;  // steps and steps/s at the previous call
    bool seen = false;
  };
  std::vector<Memory> memory_;
};

}  // namespace berth::gavel
