// How long a job is thought to run: what its user requested, where there is such a request, otherwise its
// remaining work in the quality that the scenario grants. Backfilling and the published score rules plan with
// these.
#pragma once

#include <cmath>

#include "env/sim/cluster_view.hpp"

namespace berth {

// Is one moment no later than another, both sums of times of their size, which round differently? What runs
// until the start of a reservation may run before it, whenever the clock began.
inline bool NoLater(double time, double limit) {
  return time <= limit + 1e-12 * std::abs(limit);
}

// Seconds on its fastest type, from its start: the request that the published score rules read. Needs
// kEstimate where nothing is requested.
double RequestedSeconds(const ClusterView& view, int job);

// Seconds on `type`, from its start: a request holds for any type. kNever where the job cannot run. Needs
// kEstimate where nothing is requested.
double EstimatedSeconds(const ClusterView& view, int job, int type);

// Seconds that a job would hold GPUs of `type`, from its start: EstimatedSeconds, and what every start takes
// first where nothing is requested. A request counts from the start; what a job pays that ran before, as to
// load its state, is left out, and so is a start that costs each job another time.
double EstimatedHold(const ClusterView& view, int job, int type);

// Seconds that a running job still needs as it runs now: what is left of its start, then its steps on the
// GPUs that it holds, beside whoever shares its GPU. kNever where that gives it no rate.
double SecondsLeft(const ClusterView& view, int job);
// When a running job is thought to end; past where it outran what was requested.
double EstimatedEnd(const ClusterView& view, int job);

// GPUs that others may have when a running job has ended: none while it is thought that who shares them runs
// on, and none that leave service.
int GivenBack(const ClusterView& view, int job);

// When a running job is thought to free its GPUs; later than now. Under clock `rounds` GPUs are freed at
// boundaries only, so the time is rounded up to one.
double EstimatedRelease(const ClusterView& view, int job);
// When GPUs are back that are held for `seconds` from `start` on.
double ReleaseAfter(const ClusterView& view, double start, double seconds);
// The same for a job that would start on `type` at `start`.
double EstimatedRelease(const ClusterView& view, int job, int type, double start);

// Does EstimatedRelease of this running job stay as it is, but for rounding, until the job changes or its
// time has come? Not where the estimate is off (its error shrinks as the job runs), where the job's rate is
// not that of its type alone, in rounds of whole steps, and where features change rates, saves or starts.
bool ReleaseIsSteady(const ClusterView& view, int job);

}  // namespace berth
