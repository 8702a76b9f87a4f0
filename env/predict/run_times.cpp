#include "env/predict/run_times.hpp"

#include <algorithm>
#include <cmath>

#include "env/sim/in_service.hpp"

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

double EstimatedHold(const ClusterView& view, int job, int type) {
  const double seconds = EstimatedSeconds(view, job, type);
  return std::isnan(view.Requested(job)) ? view.features().LaunchSeconds() + seconds : seconds;
}

double SecondsLeft(const ClusterView& view, int job) {
  const int type = view.TypeOf(job), partner = view.Partner(job), width = HeldGpus(view, job);
  double rate = width == view.Gang(job) ? view.Rate(job, type) : view.RateAt(job, type, width);
  // Of two whom somebody else lets share GPUs, nobody may have said how fast they are then.
  const double beside = partner >= 0 ? view.PairRate(job, partner, type) : 0.0;
  if (beside > 0.0) rate = std::min(rate, beside);
  const double starts = std::max(0.0, view.ProgressOf(job).from - view.now());
  return rate > 0.0 ? starts + view.RemainingSteps(job) / rate : kNever;
}

double EstimatedEnd(const ClusterView& view, int job) {
  const double requested = view.Requested(job);
  return std::isnan(requested) ? view.now() + SecondsLeft(view, job) : view.RunStart(job) + requested;
}

int GivenBack(const ClusterView& view, int job) {
  if (const int partner = view.Partner(job); partner >= 0) {
    const double end = EstimatedEnd(view, job), its = EstimatedEnd(view, partner);
    if (end < its || (end == its && job < partner)) return 0;
  }
  return LeftToOthers(view, job, HeldGpus(view, job));
}

double EstimatedRelease(const ClusterView& view, int job) {
  // A job that outran its estimate still holds its GPUs: it may end at any moment, but not now.
  const double soonest = std::nextafter(view.now(), kNever);
  return AtBoundary(view, std::max(EstimatedEnd(view, job), soonest));
}

double EstimatedRelease(const ClusterView& view, int job, int type, double start) {
  return ReleaseAfter(view, start, EstimatedHold(view, job, type));
}

double ReleaseAfter(const ClusterView& view, double start, double seconds) {
  return AtBoundary(view, start + seconds);
}

bool ReleaseIsSteady(const ClusterView& view, int job) {
  if (!std::isnan(view.Requested(job))) return true;
  return view.estimates_are_exact() && view.rates_are_exact() && view.Partner(job) < 0 &&
         view.clock().kind != ClockKind::kReferenceRounds && view.plain();
}

}  // namespace berth
