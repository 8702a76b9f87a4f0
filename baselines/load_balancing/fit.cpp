#include "baselines/load_balancing/fit.hpp"

namespace berth {

void Fit::Decide(const ClusterView& view, Decision& decision) {
  plan_.Begin(view, /*preemptive=*/false);
  for (int job : view.waiting()) {
    if (plan_.total_room() == 0) break;
    const int type = Choose(view, job);
    if (type >= 0) {
      plan_.Put(view, job, type);
    } else if (!overtake_) {
      break;
    }
  }
  plan_.Emit(view, decision);
}

int Fit::Choose(const ClusterView& view, int job) const {
  int best = -1;
  for (int type = 0; type < view.num_types(); ++type) {
    if (!plan_.Fits(view, job, type)) continue;
    if (best < 0) {
      best = type;
      continue;
    }
    const int more = plan_.room(type) - plan_.room(best);
    const bool better = more == 0 ? view.Rate(job, type) > view.Rate(job, best) : (more < 0) == tightest_;
    if (better) best = type;
  }
  return best;
}

}  // namespace berth
