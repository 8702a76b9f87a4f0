// Backfilling under semantics `commit` as in RLScheduler (Zhang et al., SC 2020: HPCSimPickJobs.py,
// moveforward_for_resources_backfill). When the committed job is first found not to fit, its shadow time is
// worked out once: the first time at which enough of the running jobs' GPUs are back, by what those jobs
// requested. Until it starts, jobs are then tried in arrival order before every event, and one that fits
// starts if it would end before the shadow. Unlike textbook EASY the comparison is strict, GPUs that the
// committed job leaves are not used, and the shadow is never worked out afresh.
#pragma once

#include <span>

#include "env/predict/releases.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// One shadow at a time, shared by the process in training, frozen policies and score rules. Thread rule: one
// thread at a time. Needs kEstimate where jobs request nothing.
class CommitBackfill {
 public:
  void Forget() { known_ = false; }  // the committed job started: the next one has a shadow of its own
  // Puts into `plan` (begun non-preemptively) whom the published rule starts now. `committed` fits no type of
  // `plan`, or not `type`, if that is not -1. `queue` in order of arrival; of jobs that no longer wait
  // nothing happens.
  void Fill(const ClusterView& view, std::span<const int> queue, int committed, int type, Plan& plan);
  double shadow() const { return shadow_; }  // s, valid after Fill

 private:
  double Shadow(const ClusterView& view, int committed, int type, const Plan& plan);

  bool known_ = false;
  double shadow_ = 0.0;
  Releases releases_;
};

}  // namespace berth
