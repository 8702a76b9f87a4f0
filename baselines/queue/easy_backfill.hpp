// EASY backfilling (Lifka 1995) on several GPU types. The first job of the queue that does not fit reserves
// the type on which it can start earliest; those behind it may start only if that does not delay it: on
// another type, before the reserved start, or on GPUs that it will not need.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "baselines/queue/type_choice.hpp"
#include "env/plan.hpp"

namespace berth {

// Needs kEstimate. Reused between decisions; thread rule: one thread at a time.
class EasyBackfill {
 public:
  explicit EasyBackfill(TypeChoice place) : place_(place) {}
  // Of `queue`, in its order, the first job does not fit `plan`; puts those behind it that may start now.
  void Fill(const ClusterView& view, std::span<const int> queue, Plan& plan);

 private:
  struct Reservation {
    int type = -1;
    double start = kNever;  // s
    int spare = 0;          // GPUs of the type that the head leaves free at its start
  };
  Reservation Reserve(const ClusterView& view, int head, const Plan& plan);
  bool Better(const ClusterView& view, const Plan& plan, int job, int type, int than) const;

  TypeChoice place_;
  std::vector<std::pair<double, int>> releases_;  // (time, GPUs)
};

}  // namespace berth
