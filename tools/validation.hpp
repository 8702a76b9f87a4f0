// What `berth train --validate` does: the policy of now, frozen and greedy, on workloads that no episode of
// the training draws; the best one so far is kept, since the last one of a training is not.
#pragma once

#include <cstdint>
#include <string>

#include "tools/tune/trials.hpp"

namespace berth {

class Validation {
 public:
  // On `workloads` of those that no search of `on` draws. `run` is the training's folder; where it is
  // continued, its validation.csv says what was best.
  Validation(RewardTrials on, int workloads, const std::string& run, bool resume);

  // Measures RUN/checkpoint.h5, which is of `steps` environment steps: a line of RUN/validation.csv; the
  // policy becomes RUN/best.h5 where it is better than all before. The value is the geometric mean over
  // workloads of what the reward adds up to a job (of jct: its mean JCT, s), less being better; infinite
  // where jobs of a window were not done. Errors of export, and of files.
  void Measure(std::int64_t steps);

  bool any() const { return best_steps_ >= 0; }
  std::int64_t best_steps() const { return best_steps_; }
  double best() const { return best_; }
  std::string policy() const { return run_ + "/best.h5"; }

 private:
  RewardTrials on_;
  int workloads_;
  std::string run_, rows_;  // of validation.csv
  std::int64_t best_steps_ = -1;
  double best_ = 0.0;
};

}  // namespace berth
