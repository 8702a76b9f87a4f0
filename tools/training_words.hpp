// A training that goes nowhere or drifts, said in words: what was seen, the likely cause, what to do. The
// rules are all here and in training_words.cpp; their bounds come from runs of the default workload (seed 1,
// 500,000 steps), where PPO by the reward alone kept 98% of a uniform draw's entropy and a learning rate of
// 1e-5 moved nothing (KL of an update 2e-10), while runs that learnt were below 93% after a third.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "agents/train/learn_api.hpp"
#include "tools/validation.hpp"

namespace berth {

// What a run is, as far as causes go.
struct TrainingFacts {
  double load = 0.0;  // WorkloadNumbers::load; 0 = not known
  bool signal_is_reward = true;
  bool keeps_best = false;  // of the policies validated, as best.h5
};

class TrainingWords {
 public:
  explicit TrainingWords(const TrainingFacts& facts) : facts_(facts) {}

  void Add(const TrainProgress& now);  // about once a second
  void Finish() { finished_ = true; }  // the training came to its end, by steps or by time
  // A line a finding, none where all seems well:
  //   goes nowhere: after a quarter of the training entropy is >= 97% of uniform, no update moved the policy
  //   by a KL of
  //     1e-3, and of the greedy validations, where there are two, the last is not 2% better than the first
  //   drifts: the last two greedy validations are both worse than the best before them, by more than 2% and
  //   two
  //     standard errors of the pairs of workloads
  //   loses: at the end the greedy policy costs more than the best baseline, by more than 2% and two standard
  //     errors of the pairs of workloads
  //   jumps: an update moved the policy by a KL above 0.3
  //   has M of its N members: at the end some had no turn, since the steps or the time of a member are less
  //   than a rollout takes
  //   lets its backlog grow: recent episodes end with 1.5 times the jobs that the first ones ended with, and
  //   5 more
  std::vector<std::string> Say(const std::vector<Validation::Row>& validations) const;

 private:
  bool Nowhere(const std::vector<Validation::Row>& validations) const;
  std::string CauseOfNowhere() const;
  std::string CauseOfLoss(const Validation::Row& last) const;

  TrainingFacts facts_;
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  bool any_ = false, finished_ = false;
  int member_ = 1, members_ = 1;
  double fraction_ = 0.0, entropy_share_ = kNaN, arrivals_share_ = kNaN,
         last_kl_ = kNaN;  // of the last update
  double most_kl_ = 0.0;
  double first_backlog_ = kNaN, last_backlog_ = kNaN;  // at the end of episodes
};

}  // namespace berth
