// Whether all jobs can end within T seconds, by prices of the GPU types alone: what a job must cost at given
// prices is found job by job, and a mixture of such answers that fits, or prices at which no answer can, is
// the proof (Dantzig and Wolfe 1960, with the prices smoothed as by Wentges, "Weighted Dantzig-Wolfe
// decomposition for linear mixed-integer programming", 1997). O(jobs G^2) a question, a few questions a
// probe, where an interior point solves for all shares.
#pragma once

#include <span>
#include <vector>

#include "baselines/gavel/mixture.hpp"
#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

enum class Verdict { kFeasible, kInfeasible, kUndecided };

// Jobs enter with remaining > 0, each with a type that it can run on. Thread rule: one thread at a time.
class MakespanProbe {
 public:
  explicit MakespanProbe(const Problem& problem);
  // Proven with a relative margin of 1e-9 in T or in what is used; kUndecided within that, or where the
  // search does not close. What one probe learns serves the next.
  Verdict Try(double seconds);
  int questions() const { return questions_; }  // so far

 private:
  // The jobs' cheapest shares at these prices of the types: used_ [G], in parts of the type's GPUs, and what
  // they cost together, which no shares of makespan `seconds` undercut.
  double Ask(double seconds, std::span<const double> prices);

  int jobs_, types_;
  std::vector<double> gpus_;         // [G]
  std::vector<double> gang_;         // [m]
  std::vector<double> worth_;        // [G, m] throughput / remaining
  std::vector<double> over_;         // [G, m] 1 / worth, 0 where it cannot run
  std::vector<double> apart_;        // [G (G - 1) / 2, m] 1 / (worth_b - worth_a) for a < b
  std::vector<double> used_, best_;  // [G] best_: the prices of the highest bound so far
  Mixture mixture_;
  double impossible_ = 0.0;  // no makespan is as short
  double possible_;          // one is proven
  int questions_ = 0;
};

}  // namespace berth::gavel
