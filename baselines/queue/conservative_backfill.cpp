#include "baselines/queue/conservative_backfill.hpp"

#include <algorithm>

#include "env/predict/run_times.hpp"

namespace berth {

void ConservativeBackfill::Fill(const ClusterView& view, ScoreQueue& queue, Plan& plan) {
  profiles_.resize(static_cast<std::size_t>(view.num_types()));
  releases_.clear();
  for (int job : view.running()) {
    releases_.push_back({EstimatedRelease(view, job), view.TypeOf(job), view.Gang(job)});
  }
  std::sort(releases_.begin(), releases_.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  for (int type = 0; type < view.num_types(); ++type) Profile(type).Reset(view.now(), plan.room(type));
  for (const Back& back : releases_)
    Profile(back.type).Release(back.time, back.gang);  // each at the end: O(1)
  for (int job = queue.Next(); job >= 0; job = queue.Next()) {
    if (queue.NoneFits(plan)) return;  // nobody further can start now, and plans are made afresh next time
    const Slot slot = Earliest(view, job);
    if (slot.type < 0) continue;
    Profile(slot.type).Reserve(slot.start, slot.end, view.Gang(job));
    if (slot.start <= view.now()) plan.Put(view, job, slot.type);
  }
}

ConservativeBackfill::Slot ConservativeBackfill::Earliest(const ClusterView& view, int job) {
  Slot best;
  for (int type = 0; type < view.num_types(); ++type) {
    if (view.Rate(job, type) <= 0.0) continue;
    const double held = EstimatedRelease(view, job, type, view.now()) - view.now();
    Slot slot;
    slot.type = type;
    slot.start = Profile(type).EarliestStart(view.Gang(job), held);
    if (slot.start == kNever) continue;  // a running job's end is not known
    slot.end = slot.start + held;        // the very sum that the profile was asked about
    const double key = by_start_ ? slot.start : slot.end, other = by_start_ ? slot.end : slot.start;
    const double best_key = by_start_ ? best.start : best.end, best_other = by_start_ ? best.end : best.start;
    if (best.type < 0 || key < best_key || (key == best_key && other < best_other)) best = slot;
  }
  return best;
}

}  // namespace berth
