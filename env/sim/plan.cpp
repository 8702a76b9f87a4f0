#include "env/sim/plan.hpp"

#include <algorithm>

namespace berth {

void Plan::Begin(const ClusterView& view, bool preemptive) {
  preemptive_ = preemptive;
  const std::size_t jobs = Index(view.num_jobs());
  if (stamp_.size() != jobs) {
    stamp_.assign(jobs, 0);
    type_.assign(jobs, -1);
    epoch_ = 0;
  }
  if (++epoch_ == 0) {  // wrapped: forget all marks
    std::fill(stamp_.begin(), stamp_.end(), 0);
    epoch_ = 1;
  }
  room_.resize(Index(view.num_types()));
  total_room_ = 0;
  for (int type = 0; type < view.num_types(); ++type) {
    room_[Index(type)] = preemptive ? view.types()[Index(type)].count : view.free_gpus()[Index(type)];
    total_room_ += room_[Index(type)];
  }
  placed_.clear();
}

void Plan::Put(const ClusterView& view, int job, int type) {
  BERTH_DCHECK(Fits(view, job, type), "job ", job, " on type ", type);
  Place(job, type, view.Gang(job));
}

// It holds what it holds, a GPU that takes no new job (SimState::out_of_service) on top of the room.
void Plan::Keep(const ClusterView& view, int job) {
  int held = view.Gang(job);
  if (!view.plain()) {
    held = 0;
    for (int device : view.Devices(job)) held += view.InService(device);
  }
  Place(job, view.TypeOf(job), held);
}

void Plan::Place(int job, int type, int gpus) {
  room_[Index(type)] -= gpus;
  total_room_ -= gpus;
  stamp_[Index(job)] = epoch_;
  type_[Index(job)] = static_cast<std::int8_t>(type);
  placed_.push_back(job);
}

void Plan::Emit(const ClusterView& view, Decision& decision) const {
  if (preemptive_) {
    for (int job : view.running()) {
      const int type = TypeOf(job);
      if (type < 0) {
        decision.Stop(job);
      } else if (type != view.TypeOf(job)) {
        decision.Move(job, type);
      }
    }
  }
  for (int job : placed_) {
    if (view.IsWaiting(job)) decision.Start(job, TypeOf(job));
  }
}

int FastestFit(const ClusterView& view, const Plan& plan, int job) {
  int best = -1;
  double best_rate = 0.0;
  for (int type = 0; type < view.num_types(); ++type) {
    const double rate = view.Rate(job, type);
    if (rate > best_rate && plan.Fits(view, job, type)) {
      best_rate = rate;
      best = type;
    }
  }
  return best;
}

}  // namespace berth
