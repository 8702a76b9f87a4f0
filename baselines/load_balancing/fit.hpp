// First come, first served by how well a gang fills a type: onto the one with the least room that fits it
// (best fit), which keeps large holes for large gangs, or with the most (worst fit), which spreads the load.
#pragma once

#include "env/plan.hpp"
#include "env/scheduler.hpp"

namespace berth {

class Fit final : public Scheduler {
 public:
  Fit(bool tightest, bool overtake) : tightest_(tightest), overtake_(overtake) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Decide(const ClusterView& view, Decision& decision) override;

 private:
  // Ties go to the type on which the job runs faster. -1 = none has room.
  int Choose(const ClusterView& view, int job) const;

  bool tightest_, overtake_;
  Plan plan_;
};

}  // namespace berth
