#include "baselines/queue/easy_backfill.hpp"

#include "env/predict/run_times.hpp"

namespace berth {

// Where and when the head can start, given the running jobs and those just placed. Of types with the same
// start the one on which it runs fastest.
Reservation EasyBackfill::Reserve(const ClusterView& view, int head, const Plan& plan) {
  Reservation best;
  for (int type = 0; type < view.num_types(); ++type) {
    const int count = view.types()[static_cast<std::size_t>(type)].count;
    if (view.Rate(head, type) <= 0.0 || view.Gang(head) > count) continue;
    int free = plan.room(type);
    for (const Release& release : releases_.First(view, plan, type, view.Gang(head) - free)) {
      free += release.gang;
      if (free < view.Gang(head)) continue;
      const bool faster = best.type >= 0 && view.Rate(head, type) > view.Rate(head, best.type);
      if (release.time < best.start || (release.time == best.start && faster)) {
        best = {type, release.time, free - view.Gang(head)};
      }
      break;
    }
  }
  return best;
}

void EasyBackfill::Fill(const ClusterView& view, int head, ScoreQueue& queue, Plan& plan) {
  Opening opening(view, plan);
  if (queue.NoneFits(plan)) return;
  opening.reservation = Reserve(view, head, plan);
  for (int job = queue.Next(opening); job >= 0; job = queue.Next(opening)) {
    if (plan.Placed(job)) continue;  // before the head, in another order than this queue's
    int best = -1;
    bool best_spare = false;
    for (int type = 0; type < view.num_types(); ++type) {
      const double seconds = EstimatedSeconds(view, job, type);
      if (!opening.Allows(view.Gang(job), type, seconds)) continue;
      if (best >= 0 && !BetterType(view, plan, job, type, best, place_)) continue;
      best = type, best_spare = opening.UsesSpare(type, seconds);
    }
    plan.Put(view, job, best);
    if (best_spare) opening.reservation.spare -= view.Gang(job);
  }
}

}  // namespace berth
