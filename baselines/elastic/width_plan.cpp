#include "baselines/elastic/width_plan.hpp"

#include <algorithm>

#include "baselines/placement/in_service.hpp"

namespace berth {

void WidthPlan::Begin(const ClusterView& view) {
  type_.resize(Index(view.num_jobs()), -1);
  width_.resize(Index(view.num_jobs()), 0);
  taken_.resize(Index(view.num_jobs()), 0);
  for (int job : placed_) type_[Index(job)] = -1, width_[Index(job)] = taken_[Index(job)] = 0;
  placed_.clear();
  room_.clear();
  for (const GpuType& type : view.types()) room_.push_back(type.count);
  if (view.plain()) return;
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

void WidthPlan::Emit(const ClusterView& view, Decision& decision) const {
  for (int job : view.running()) {
    if (WidthOf(job) == 0) {
      decision.Stop(job);
    } else if (TypeOf(job) != view.TypeOf(job) || WidthOf(job) != view.Width(job)) {
      decision.Resize(job, TypeOf(job), WidthOf(job));
    }
  }
  for (int job : placed_) {
    if (view.IsWaiting(job)) decision.StartAt(job, TypeOf(job), WidthOf(job));
  }
}

}  // namespace berth
