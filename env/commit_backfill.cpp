#include "env/commit_backfill.hpp"

#include <algorithm>

#include "env/estimates.hpp"

namespace berth {

// On several types: the earliest over those on which the job may start.
double CommitBackfill::Shadow(const ClusterView& view, int committed, int type, const Plan& plan) {
  double earliest = kNever;
  for (int g = 0; g < view.num_types(); ++g) {
    if ((type >= 0 && g != type) || view.Rate(committed, g) <= 0.0) continue;
    releases_.clear();
    for (int job : view.running()) {
      if (view.TypeOf(job) == g) releases_.push_back({EstimatedRelease(view, job), view.Gang(job)});
    }
    for (int job : plan.placed()) {
      if (plan.TypeOf(job) == g)
        releases_.push_back({EstimatedRelease(view, job, g, view.now()), view.Gang(job)});
    }
    std::sort(releases_.begin(), releases_.end());
    int free = plan.room(g);
    for (const auto& [time, gang] : releases_) {
      free += gang;
      if (free < view.Gang(committed)) continue;
      earliest = std::min(earliest, time);
      break;
    }
  }
  return earliest;
}

void CommitBackfill::Fill(const ClusterView& view, std::span<const int> queue, int committed, int type,
                          Plan& plan) {
  if (!known_) shadow_ = Shadow(view, committed, type, plan);
  known_ = true;
  for (int job : queue) {
    if (plan.total_room() == 0) return;
    if (job == committed || !view.IsWaiting(job)) continue;
    int best = -1;
    for (int g = 0; g < view.num_types(); ++g) {
      if (!plan.Fits(view, job, g) || !(EstimatedRelease(view, job, g, view.now()) < shadow_)) continue;
      if (best < 0 || view.Rate(job, g) > view.Rate(job, best)) best = g;
    }
    if (best >= 0) plan.Put(view, job, best);
  }
}

}  // namespace berth
