#include "baselines/elastic/width_plan.hpp"

#include <algorithm>
#include <cmath>

#include "baselines/placement/in_service.hpp"
#include "baselines/ranking.hpp"

namespace berth {

constexpr double kBefore = 1.0;  // s before its GPUs go that a job takes fewer

void WidthPlan::Begin(const ClusterView& view) {
  type_.resize(Index(view.num_jobs()), -1);
  width_.resize(Index(view.num_jobs()), 0);
  taken_.resize(Index(view.num_jobs()), 0);
  for (int job : placed_) type_[Index(job)] = -1, width_[Index(job)] = taken_[Index(job)] = 0;
  placed_.clear(), moved_.clear();
  room_.clear();
  for (const GpuType& type : view.types()) room_.push_back(type.count);
  if (!view.AnyLeaving()) return;
  for (int job : view.running()) {
    if (NoneInService(view, job)) Put(view, job, view.TypeOf(job), view.Width(job));
  }
}

int WidthPlan::Takes(const ClusterView& view, int job, int type, int width) {
  if (view.TypeOf(job) != type || view.Width(job) != width) return width;
  return HeldInService(view, job);
}

int WidthPlan::Least(const ClusterView& view, int job, int type) {
  for (int width = view.MinGang(job); width <= view.MaxGang(job); ++width) {
    if (view.RateAt(job, type, width) > 0.0) return width;
  }
  return 0;
}

bool WidthPlan::Place(const ClusterView& view, int job) {
  if (WidthOf(job) > 0) return true;
  const int here = view.TypeOf(job);
  if (here >= 0 && !AllInService(view, job)) {
    // As wide as it is, where it would take no more than on its least.
    const int held = HeldInService(view, job);
    if (held <= std::min(room(here), Least(view, job, here))) {
      Put(view, job, here, view.Width(job));
      return true;
    }
  }
  int best = -1;
  double best_rate = 0.0;
  for (int type = 0; type < view.num_types(); ++type) {
    const int least = Least(view, job, type);
    if (least == 0 || Takes(view, job, type, least) > room(type)) continue;
    const double rate = type == here ? kNever : view.RateAt(job, type, least);
    if (rate > best_rate) best = type, best_rate = rate;
  }
  if (best >= 0) Put(view, job, best, Least(view, job, best));
  return best >= 0;
}

void WidthPlan::Put(const ClusterView& view, int job, int type, int width) {
  type_[Index(job)] = type, width_[Index(job)] = width;
  taken_[Index(job)] = Takes(view, job, type, width);
  room_[Index(type)] -= taken_[Index(job)];
  placed_.push_back(job);
}

void WidthPlan::Widen(const ClusterView& view, int job, int width) {
  const int takes = Takes(view, job, TypeOf(job), width);
  room_[Index(TypeOf(job))] -= takes - taken_[Index(job)];
  width_[Index(job)] = width, taken_[Index(job)] = takes;
}

int WidthPlan::Reach(const ClusterView& view, int job) const {
  const int now = TypeOf(job) == view.TypeOf(job) ? view.Width(job) : 0;
  return std::min(view.MaxGang(job), std::max(taken_[Index(job)] + room(TypeOf(job)), now));
}

int WidthPlan::Next(const ClusterView& view, int job) const {
  const int next = WidthOf(job) + 1, now = TypeOf(job) == view.TypeOf(job) ? view.Width(job) : 0;
  return now > next && Costs(view, job, now) <= Costs(view, job, next) ? now : next;
}

void WidthPlan::MoveOffLeaving(const ClusterView& view, Decision& decision) {
  if (!view.AnyLeaving()) return;
  for (int job : view.running()) {
    const int here = view.TypeOf(job), width = view.Width(job);
    if (AllInService(view, job)) continue;
    if (WidthOf(job) == 0) {
      if (Takes(view, job, here, width) <= room(here)) Put(view, job, here, width);
    } else if (TypeOf(job) == here && WidthOf(job) < width && Costs(view, job, width) <= 0 &&
               view.RateAt(job, here, WidthOf(job)) <= view.RateAt(job, here, width)) {
      Widen(view, job, width);
    }
  }
  for (int job : view.running()) {
    if (!RunsOn(view, job) || AllInService(view, job) || view.Partner(job) >= 0) continue;
    const int here = view.TypeOf(job), held = taken_[Index(job)], now = WidthOf(job);
    const bool ends = EndsBeforeLeaving(view, job);
    const double leave = FirstLeavesAt(view, job) - kBefore;
    const bool last = !ends && LastBefore(view, leave);
    int best = -1, best_width = 0;
    // What it would have on the GPUs that it keeps, or, if it ends in time, has now. At last it may go on
    // there.
    const int keeps = ends ? now : held;
    double best_rate = !last && keeps >= view.MinGang(job) ? view.RateAt(job, here, keeps) : 0.0;
    for (int type = 0; type < view.num_types(); ++type) {
      const int most = std::min(now, room(type) + (type == here ? held : 0));
      for (int width = view.MinGang(job); width <= most; ++width) {
        const double rate = view.RateAt(job, type, width);
        if (!last && width < now && rate <= view.RateAt(job, here, now)) continue;
        if (rate > best_rate || (best >= 0 && rate == best_rate && type == here && best != here))
          best = type, best_width = width, best_rate = rate;
      }
    }
    if (best < 0) {
      if (!last && !ends && view.MinGang(job) < now) decision.wake_at = std::min(decision.wake_at, leave);
      continue;
    }
    if (held > (best == here ? best_width : 0) && view.num_waiting() > 0)
      decision.wake_at = std::min(decision.wake_at, std::nextafter(view.now(), kNever));
    room_[Index(here)] += held;
    room_[Index(best)] -= best_width;
    type_[Index(job)] = best, width_[Index(job)] = taken_[Index(job)] = best_width;
    moved_.push_back(job);
  }
}

bool WidthPlan::RunsOn(const ClusterView& view, int job) const {
  return WidthOf(job) > 0 && TypeOf(job) == view.TypeOf(job) && WidthOf(job) == view.Width(job) &&
         std::ranges::find(moved_, job) == moved_.end();
}

void WidthPlan::Emit(const ClusterView& view, Decision& decision) const {
  for (int job : view.running()) {
    if (WidthOf(job) == 0) {
      decision.Stop(job);
    } else if (!RunsOn(view, job)) {
      decision.Resize(job, TypeOf(job), WidthOf(job));
    }
  }
  for (int job : placed_) {
    if (view.IsWaiting(job)) decision.StartAt(job, TypeOf(job), WidthOf(job));
  }
}

}  // namespace berth
