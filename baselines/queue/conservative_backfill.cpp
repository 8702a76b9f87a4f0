#include "baselines/queue/conservative_backfill.hpp"

#include <algorithm>
#include <limits>

#include "env/base/check.hpp"
#include "env/predict/run_times.hpp"

namespace berth {

void AvailabilityProfile::Reset(double now, int free) {
  steps_.clear();
  steps_.push_back({now, free});
  first_.clear();
}

std::size_t AvailabilityProfile::Cut(double time) {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), time,
                                      [](double t, const Step& step) { return t < step.time; });
  BERTH_CHECK(after != steps_.begin(), "time ", time, " is before the profile's start");
  const auto at = static_cast<std::size_t>(after - steps_.begin()) - 1;
  if (steps_[at].time == time) return at;
  const int free = steps_[at].free;  // read before the insertion moves it
  steps_.insert(after, Step{time, free});
  return at + 1;
}

void AvailabilityProfile::Release(double time, int gang) {
  if (time == std::numeric_limits<double>::infinity()) return;
  for (std::size_t i = Cut(time); i < steps_.size(); ++i) steps_[i].free += gang;
  first_.clear();
}

std::size_t AvailabilityProfile::FirstWith(int gang) {
  const auto g = static_cast<std::size_t>(gang);
  if (first_.size() <= g) first_.resize(g + 1, steps_.front().time);
  const auto from = std::lower_bound(steps_.begin(), steps_.end(), first_[g],
                                     [](const Step& step, double t) { return step.time < t; });
  const auto found = std::find_if(from, steps_.end(), [&](const Step& step) { return step.free >= gang; });
  first_[g] = found == steps_.end() ? std::numeric_limits<double>::infinity() : found->time;
  return static_cast<std::size_t>(found - steps_.begin());
}

double AvailabilityProfile::EarliestStart(int gang, double seconds) {
  for (std::size_t i = FirstWith(gang); i < steps_.size(); ++i) {
    if (steps_[i].free < gang) continue;
    const double start = steps_[i].time;
    std::size_t next = i + 1;
    const auto reached = [&] { return next == steps_.size() || NoLater(start + seconds, steps_[next].time); };
    while (!reached() && steps_[next].free >= gang) ++next;
    if (reached()) return start;
    i = next;  // too few there: no start up to that step can work
  }
  return std::numeric_limits<double>::infinity();
}

void AvailabilityProfile::Reserve(double start, double end, int gang) {
  const std::size_t first = Cut(start);
  std::size_t last = first + 1;
  while (last < steps_.size() && !NoLater(end, steps_[last].time)) ++last;
  const bool begins = last < steps_.size() && steps_[last].time <= end;  // a step there, but for rounding
  if (!begins && end < std::numeric_limits<double>::infinity()) last = Cut(end);
  for (std::size_t i = first; i < last; ++i) {
    steps_[i].free -= gang;
    BERTH_CHECK(steps_[i].free >= 0, "reserved ", -steps_[i].free, " GPUs too many at ", steps_[i].time);
  }
}

void ConservativeBackfill::Fill(const ClusterView& view, ScoreQueue& queue, Plan& plan) {
  profiles_.resize(static_cast<std::size_t>(view.num_types()));
  releases_.clear();
  for (int job : view.running()) {
    releases_.push_back({EstimatedRelease(view, job), view.TypeOf(job), GivenBack(view, job)});
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
