#include "env/predict/releases.hpp"

#include <algorithm>

#include "env/predict/run_times.hpp"

namespace berth {

void Releases::Collect(const ClusterView& view, int type, int room, const Plan* plan) {
  now_ = view.now();
  room_ = room;
  order_.clear();
  for (int job : view.running()) {
    if (view.TypeOf(job) != type) continue;
    order_.emplace_back(EstimatedRelease(view, job), job, GivenBack(view, job));
  }
  if (plan != nullptr) {
    for (int job : plan->placed()) {
      if (plan->TypeOf(job) != type) continue;
      order_.emplace_back(EstimatedRelease(view, job, type, view.now()), job, view.Gang(job));
    }
  }
  std::sort(order_.begin(), order_.end());
}

Vacancy Releases::When(int gang) const {
  int free = room_;
  if (free >= gang) return {now_, free - gang};
  for (const auto& [time, job, gpus] : order_) {
    free += gpus;
    if (free >= gang) return {time, free - gang};
  }
  return {kNever, 0};
}

}  // namespace berth
