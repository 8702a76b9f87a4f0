// What `berth tune --hinges` minimises on pieces of a log of rigid jobs:
//
//   mean of slowdown / reference's + penalty x sum over {p99, maximum} of max(0, wait / reference's -
//   margin),
//
// the waits' ratio being the geometric mean over the pieces, slowdowns as hpc_bounded_slowdown, the reference
// on the same piece: bounded slowdown alone rewards whoever starves large jobs. Pieces are scaled by random
// factors, to other loads, run times and gangs than the log's: policies trained at one log's fail at
// another's.
#pragma once

#include "tools/tune/trials.hpp"

namespace berth {

// Factors of a log's load, run times and gangs, each 1 = as they are.
struct Scales {
  double load = 1.0, run = 1.0, gang = 1.0;
};

struct BatchTerms {
  Scales low, high;  // of each piece log-uniform between them; as the log is where the answer is measured
  double penalty = 0.0, margin = 1.0;
};

class BatchTrials final : public Trials {
 public:
  // The source is fixed; `jobs` of a piece. Throws Error where `pieces` or `held_out` have fewer.
  BatchTrials(TrialSettings settings, const BatchTerms& terms);
  double Cost(const Metrics& metrics) const override { return metrics.hpc_bounded_slowdown; }
  // For the validation evenly spread over `held_out`, for the choice drawn from it.
  std::vector<Scenario> Draw(int generation, int count) const override;
  const Scenario& log() const { return log_; }

 protected:
  search::Costs Weigh(const std::vector<std::vector<Metrics>>& runs,
                      const std::vector<Metrics>& reference) const override;

 private:
  BatchTerms terms_;
  Scenario log_;
};

// The i-th of `count` places evenly from 0 to `places` - 1; of one it is 0.
int EvenPlace(int i, int count, int places);

// Jobs [begin, begin + jobs): run times and requests `run` times as long; gangs `gang` times as large, as
// near as the log's table of throughputs has them, at most the cluster; time between arrivals such that the
// load is `load` times the log's but for gangs that were bounded.
Scenario Piece(const Scenario& log, int begin, int jobs, const Scales& scales);

}  // namespace berth
