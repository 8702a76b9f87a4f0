// EASY backfilling (Lifka 1995) on several GPU types. The first job of the queue that does not fit reserves
// the type on which it can start earliest; those behind it may start only if that does not delay it: on
// another type, before the reserved start, or on GPUs that it will not need.
#pragma once

#include <vector>

#include "baselines/queue/job_tree.hpp"
#include "baselines/queue/score_queue.hpp"
#include "baselines/queue/type_choice.hpp"
#include "env/sim/plan.hpp"

namespace berth {

struct Release {
  double time;  // s
  int job;
  int gang;
};

// The running jobs of every type in the order in which they are thought to free their GPUs, kept from one
// decision to the next: who is back first costs a few steps down a tree, not a look at all that runs.
// Needs kEstimate. Thread rule: one thread at a time.
class ReleaseOrder {
 public:
  void Reset() { known_ = false; }
  // At every decision point. Changes are noted, and looked at when First is next called.
  void Track(const ClusterView& view, bool follows);
  // The releases of a type, of running jobs and of those in `plan`, sorted by (EstimatedRelease, job): as
  // many as give back `gpus` GPUs, or all. Valid until the next call.
  const std::vector<Release>& First(const ClusterView& view, const Plan& plan, int type, int gpus);

 private:
  struct OfType {
    JobTree steady;             // by expected release; EstimatedRelease gives the same but for rounding
    std::vector<int> unsteady;  // whose release has to be estimated anew every time
  };
  void Update(const ClusterView& view);
  void Add(const ClusterView& view, int job);
  void Remove(int job);

  bool known_ = false;
  std::vector<int> pending_;  // changed since Update
  std::vector<OfType> types_;
  struct Place {
    double key = 0.0;
    std::int8_t type = -1;  // -1 = not listed
    bool steady = false;
  };
  std::vector<Place> place_;  // [J]
  std::vector<Release> first_;
};

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
