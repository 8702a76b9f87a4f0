// Conservative backfilling on several GPU types (Mu'alem and Feitelson 2001): every queued job holds a
// reservation, so a job may overtake only if it delays nobody before it. The profile is planned afresh, in
// queue order, at every decision, which is the full compression of the paper when jobs end early.
#pragma once

#include <vector>

#include "baselines/queue/availability_profile.hpp"
#include "baselines/queue/score_queue.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// Needs kEstimate. Reused between decisions; thread rule: one thread at a time.
class ConservativeBackfill {
 public:
  // A job reserves the type on which it would start earliest, or finish earliest; ties by the other, then the
  // first type.
  explicit ConservativeBackfill(bool by_start) : by_start_(by_start) {}
  // Puts into `plan`, begun and still empty, the jobs of `queue`, rewound, whose reservation begins now.
  void Fill(const ClusterView& view, ScoreQueue& queue, Plan& plan);

 private:
  struct Slot {
    int type = -1;
    double start = kNever, end = kNever;  // s
  };
  struct Back {   // GPUs of a running job
    double time;  // s
    int type, gang;
  };
  Slot Earliest(const ClusterView& view, int job);
  AvailabilityProfile& Profile(int type) { return profiles_[static_cast<std::size_t>(type)]; }

  bool by_start_;
  std::vector<AvailabilityProfile> profiles_;  // [G]
  std::vector<Back> releases_;
};

}  // namespace berth
