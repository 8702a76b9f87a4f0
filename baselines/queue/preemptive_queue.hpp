// A queue rule that stops running jobs for those before them in its order (preemptive resume): it plans anew
// from an empty cluster at every decision. A running job stays on its type while there is room for it: it is
// stopped or moved only by jobs before it, or by earlier ones of its score that it overtook. Where nobody may
// overtake, a job that does not fit keeps those behind it from starting, not from running on.
#pragma once

#include <utility>
#include <vector>

#include "baselines/queue/order.hpp"
#include "baselines/queue/type_choice.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// Every decision scores and sorts all jobs that are there. Thread rule: one thread at a time.
class PreemptiveQueue final : public Scheduler {
 public:
  PreemptiveQueue(const ScoreRule& rule, TypeChoice place, bool overtake)
      : rule_(rule), place_(place), overtake_(overtake) {}
  Knowledge knowledge() const override { return rule_.knowledge; }
  void Decide(const ClusterView& view, Decision& decision) override;

 private:
  ScoreRule rule_;
  TypeChoice place_;
  bool overtake_;
  Plan plan_;
  std::vector<std::pair<double, int>> order_;  // (score, job)
};

}  // namespace berth
