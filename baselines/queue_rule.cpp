#include "baselines/queue_rule.hpp"

#include <algorithm>
#include <cmath>

namespace berth {
namespace {

// Clock `rounds` frees GPUs at multiples of the round only.
double AtBoundary(const ClusterView& view, double time) {
  if (view.clock().kind != ClockKind::kRounds || time == kNever) return time;
  return std::ceil(time / view.clock().round_s) * view.clock().round_s;
}

}  // namespace

TypeChoice ReadTypeChoice(Params& params) {
  return static_cast<TypeChoice>(params.Choice(kPlaceParam.name, {"fastest", "first", "roomiest"}));
}

int ChooseType(const ClusterView& view, const Plan& plan, int job, TypeChoice choice) {
  if (choice == TypeChoice::kFastest) return FastestFit(view, plan, job);
  int best = -1;
  for (int type = 0; type < view.num_types(); ++type) {
    if (!plan.Fits(view, job, type)) continue;
    if (choice == TypeChoice::kFirst) return type;
    if (best < 0 || plan.room(type) > plan.room(best)) best = type;
  }
  return best;
}

void QueueRule::Decide(const ClusterView& view, Decision& decision) {
  queue_.assign(view.waiting().begin(), view.waiting().end());
  plan_.Begin(view, /*preemptive=*/false);
  if (!queue_.empty() && plan_.total_room() > 0) {
    Order(view, queue_);
    for (int job : queue_) {
      if (plan_.total_room() == 0) break;
      const int type = ChooseType(view, plan_, job, place_);
      if (type >= 0) {
        plan_.Put(view, job, type);
      } else if (!overtake_) {
        break;
      }
    }
    plan_.Emit(view, decision);
  }
  if (queue_limit_ != kNoLimit) TurnAway(view, decision);
}

// Once what fits has started, the latest arrivals beyond the limit are rejected: under clock `event` those
// that found the queue full.
void QueueRule::TurnAway(const ClusterView& view, Decision& decision) const {
  int waiting = 0;
  for (int job : view.waiting()) {
    if (!plan_.Placed(job) && ++waiting > queue_limit_) decision.Reject(job);
  }
}

double EstimatedSeconds(const ClusterView& view, int job, int type) {
  if (view.Rate(job, type) <= 0.0) return kNever;
  const double requested = view.Requested(job);
  return std::isnan(requested) ? view.RemainingSeconds(job, type) : requested;
}

double EstimatedRelease(const ClusterView& view, int job) {
  const double requested = view.Requested(job);
  const double end = std::isnan(requested) ? view.now() + view.RemainingSeconds(job, view.TypeOf(job))
                                           : view.RunStart(job) + requested;
  // A job that outran its estimate still holds its GPUs: it may end at any moment, but not now.
  const double soonest = std::nextafter(view.now(), kNever);
  return AtBoundary(view, std::max(end, soonest));
}

double EstimatedRelease(const ClusterView& view, int job, int type, double start) {
  return AtBoundary(view, start + EstimatedSeconds(view, job, type));
}

}  // namespace berth
