#include "baselines/queue/easy_backfill.hpp"

#include <algorithm>

#include "env/estimates.hpp"

namespace berth {

// Where and when the head can start, given the running jobs and those just placed. Of types with the same
// start the one on which it runs fastest.
EasyBackfill::Reservation EasyBackfill::Reserve(const ClusterView& view, int head, const Plan& plan) {
  Reservation best;
  for (int type = 0; type < view.num_types(); ++type) {
    const int count = view.types()[static_cast<std::size_t>(type)].count;
    if (view.Rate(head, type) <= 0.0 || view.Gang(head) > count) continue;
    releases_.clear();
    for (int job : view.running()) {
      if (view.TypeOf(job) == type) releases_.push_back({EstimatedRelease(view, job), job});
    }
    for (int job : plan.placed()) {
      if (plan.TypeOf(job) != type) continue;
      releases_.push_back({EstimatedRelease(view, job, type, view.now()), job});
    }
    std::sort(releases_.begin(), releases_.end());
    int free = plan.room(type);
    for (std::size_t r = 0; r < releases_.size() && free < view.Gang(head); ++r) {
      free += view.Gang(releases_[r].second);
      if (free < view.Gang(head)) continue;
      const double start = releases_[r].first;
      const bool faster = best.type >= 0 && view.Rate(head, type) > view.Rate(head, best.type);
      if (start < best.start || (start == best.start && faster)) best = {type, start, free - view.Gang(head)};
    }
  }
  return best;
}

void EasyBackfill::Fill(const ClusterView& view, std::span<const int> queue, Plan& plan) {
  Reservation head = Reserve(view, queue[0], plan);
  for (int job : queue.subspan(1)) {
    if (plan.total_room() == 0) return;
    int best = -1;
    bool best_spare = false;
    for (int type = 0; type < view.num_types(); ++type) {
      if (!plan.Fits(view, job, type)) continue;
      bool uses_spare = false;
      if (type == head.type && EstimatedRelease(view, job, type, view.now()) > head.start) {
        if (view.Gang(job) > head.spare) continue;
        uses_spare = true;
      }
      if (best < 0 || Better(view, plan, job, type, best)) best = type, best_spare = uses_spare;
    }
    if (best < 0) continue;
    if (best_spare) head.spare -= view.Gang(job);
    plan.Put(view, job, best);
  }
}

bool EasyBackfill::Better(const ClusterView& view, const Plan& plan, int job, int type, int than) const {
  switch (place_) {
    case TypeChoice::kFastest:
      return view.Rate(job, type) > view.Rate(job, than);
    case TypeChoice::kRoomiest:
      return plan.room(type) > plan.room(than);
    case TypeChoice::kFirst:
      return false;
  }
  return false;
}

}  // namespace berth
