// GPUs of running jobs that will leave service with them: nothing new may start there.
#pragma once

#include <algorithm>

#include "env/sim/cluster_view.hpp"
#include "env/sim/feature.hpp"

namespace berth {

// When a device leaves service, as announced, s; kNever = nothing is. Any thread.
inline double LeavesAt(const ClusterView& view, int device) {
  double leaves = kNever;
  for (const FeatureState& feature : view.feature_states().Of(Hook::kLeavesAt))
    leaves = std::min(leaves, feature.LeavesAt(device));
  return leaves;
}

// When the first of a job's GPUs leaves service, as announced, s; kNever = none does. Any thread.
inline double FirstLeavesAt(const ClusterView& view, int job) {
  double leaves = kNever;
  for (int device : view.Devices(job)) leaves = std::min(leaves, LeavesAt(view, device));
  return leaves;
}

// GPUs of a running job; a cluster that is no simulation does not say which. Any thread.
inline int HeldGpus(const ClusterView& view, int job) {
  return view.plain() ? view.Gang(job) : view.Width(job);
}

// True also of a job that does not run. Any thread. Where nothing leaves no GPU is looked at, here and below.
inline bool AllInService(const ClusterView& view, int job) {
  return !view.AnyLeaving() ||
         std::ranges::all_of(view.Devices(job), [&](int device) { return view.InService(device); });
}

// GPUs that it holds, but for those that will leave service. Any thread.
inline int HeldInService(const ClusterView& view, int job) {
  if (!view.AnyLeaving()) return view.Width(job);
  return static_cast<int>(
      std::ranges::count_if(view.Devices(job), [&](int device) { return view.InService(device); }));
}

// What a plan counts as free after it of the `held` GPUs that it counts for: not those that will leave
// service. Any thread.
inline int LeftToOthers(const ClusterView& view, int job, int held) {
  return AllInService(view, job) ? held : HeldInService(view, job);
}

}  // namespace berth
