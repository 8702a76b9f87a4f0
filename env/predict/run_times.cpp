#include "env/predict/run_times.hpp"

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

double RequestedSeconds(const ClusterView& view, int job) {
  const double requested = view.Requested(job);
  return std::isnan(requested) ? view.RemainingSteps(job) / view.BestRate(job) : requested;
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
  return ReleaseAfter(view, start, EstimatedSeconds(view, job, type));
}

double ReleaseAfter(const ClusterView& view, double start, double seconds) {
  return AtBoundary(view, start + seconds);
}

bool ReleaseIsSteady(const ClusterView& view, int job) {
  if (!std::isnan(view.Requested(job))) return true;
  const Costs& costs = view.costs();
  const bool pays =
      view.Preemptions(job) > 0 && costs.checkpoint_s + costs.restore_s + costs.migration_s > 0.0;
  return view.estimates_are_exact() && view.rates_are_exact() && view.Partner(job) < 0 && !pays &&
         view.clock().kind != ClockKind::kReferenceRounds && view.plain();
}

}  // namespace berth
