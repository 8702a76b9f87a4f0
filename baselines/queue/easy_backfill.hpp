// EASY backfilling (Lifka 1995) on several GPU types. The first job of the queue that does not fit reserves
// the type on which it can start earliest; those behind it may start only if that does not delay it: on
// another type, before the reserved start, or on GPUs that it will not need.
#pragma once

#include "baselines/queue/opening.hpp"
#include "baselines/queue/release_order.hpp"
#include "baselines/queue/score_queue.hpp"
#include "baselines/queue/type_choice.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// Needs kEstimate. Kept between decisions; thread rule: one thread at a time.
class EasyBackfill {
 public:
  explicit EasyBackfill(TypeChoice place) : place_(place) {}
  void Reset() { releases_.Reset(); }
  void Track(const ClusterView& view, bool follows) { releases_.Track(view, follows); }  // at every decision
  // `head` does not fit `plan`; puts those that `queue` returns from now on and that may start now.
  void Fill(const ClusterView& view, int head, ScoreQueue& queue, Plan& plan);

 private:
  Reservation Reserve(const ClusterView& view, int head, const Plan& plan);

  TypeChoice place_;
  ReleaseOrder releases_;
};

}  // namespace berth
