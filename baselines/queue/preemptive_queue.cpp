#include "baselines/queue/preemptive_queue.hpp"

#include <algorithm>

namespace berth {

void PreemptiveQueue::Decide(const ClusterView& view, Decision& decision) {
  order_.clear();
  for (int job : view.active()) order_.push_back({rule_.score(view, job), job});
  std::sort(order_.begin(), order_.end());
  plan_.Begin(view, /*preemptive=*/true);
  bool blocked = false;
  for (const auto& [score, job] : order_) {
    if (plan_.total_room() == 0) break;
    const int here = view.TypeOf(job);
    if (here >= 0 && plan_.Fits(view, job, here)) {
      plan_.Keep(view, job);
      continue;
    }
    const int type = blocked ? -1 : ChooseType(view, plan_, job, place_);
    if (type >= 0) {
      plan_.Put(view, job, type);
    } else {
      blocked = !overtake_;
    }
  }
  plan_.Emit(view, decision);
}

}  // namespace berth
