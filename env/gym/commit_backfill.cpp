#include "env/gym/commit_backfill.hpp"

#include <algorithm>

#include "env/predict/run_times.hpp"

namespace berth {

// On several types: the earliest over those on which the job may start.
double CommitBackfill::Shadow(const ClusterView& view, int committed, int type, const Plan& plan) {
  double earliest = kNever;
  for (int g = 0; g < view.num_types(); ++g) {
    if ((type >= 0 && g != type) || view.Rate(committed, g) <= 0.0) continue;
    releases_.Collect(view, g, plan.room(g), &plan);
    earliest = std::min(earliest, releases_.When(view.Gang(committed)).time);
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
