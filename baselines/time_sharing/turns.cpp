#include "baselines/time_sharing/turns.hpp"

#include <algorithm>
#include <cmath>

#include "baselines/ranking.hpp"

namespace berth {
namespace {

constexpr double kRounding = 1e-9;  // of a quantum: a wake-up may come a rounding error early

}  // namespace

void Turns::Reset(const ClusterView& view) {
  turn_.assign(static_cast<std::size_t>(view.num_jobs()), {});
  queued_ = 0;
}

// A new job starts at the least key in the system (Waldspurger & Weihl's global pass), behind its equals.
void Turns::Admit(const ClusterView& view) {
  double least = kNever;
  for (int job : view.active()) {
    if (Of(job).since >= 0) least = std::min(least, Of(job).key);
  }
  for (int job : view.active()) {
    Turn& turn = Of(job);
    if (turn.since >= 0) continue;
    turn.key = least == kNever ? 0.0 : least;
    turn.since = queued_++;
    turn.begin = view.AttainedSeconds(job);  // 0, unless another scheduler ran it before
  }
}

void Turns::EndTurns(const ClusterView& view) {
  for (int job : view.running()) {
    Turn& turn = Of(job);
    const double used = view.AttainedSeconds(job) - turn.begin - turn.costs;
    if (used < quantum_ * (1.0 - kRounding)) continue;
    if (charged_) turn.key += used * view.Gang(job) / view.Weight(job);
    turn.since = queued_++;
    turn.begin = view.AttainedSeconds(job);
    turn.costs = 0.0;
  }
}

void Turns::Decide(const ClusterView& view, Decision& decision) {
  Admit(view);
  EndTurns(view);
  order_.assign(view.active().begin(), view.active().end());
  std::sort(order_.begin(), order_.end(), [this](int a, int b) {
    return Of(a).key != Of(b).key ? Of(a).key < Of(b).key : Of(a).since < Of(b).since;
  });
  plan_.Begin(view, /*preemptive=*/true);
  double soonest = kNever;  // s until the first turn ends
  for (int job : order_) {
    if (plan_.total_room() == 0) break;
    const int type = FastestOrHere(view, plan_, job);
    if (type < 0) continue;
    plan_.Put(view, job, type);
    Turn& turn = Of(job);
    turn.costs += ChangeSeconds(view, job, type);
    soonest = std::min(soonest, quantum_ + turn.costs - (view.AttainedSeconds(job) - turn.begin));
  }
  plan_.Emit(view, decision);
  if (plan_.placed().size() < order_.size()) {
    decision.wake_at = std::max(view.now() + soonest, std::nextafter(view.now(), kNever));
  }
}

}  // namespace berth
