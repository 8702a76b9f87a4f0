#include "env/sim/cluster_view.hpp"

#include "env/sim/feature.hpp"

namespace berth {

double ClusterView::AttainedWholeGpuSeconds(int job) const {
  Need(Knowledge::kBlind);
  const SimState& s = *state_;
  double seconds = s.gpu_seconds[Index(job)];
  for (const FeatureState& feature : s.features.Of(Hook::kGpuSeconds))
    seconds = feature.GpuSeconds(*scenario_, job, seconds);
  if (IsRunning(job)) {
    const double part = divides_gpus() && scenario_->HoldsPart(job) ? GpuMilli(job) / 1000.0 : 1.0;
    seconds += Width(job) * (now() - s.busy_from[Index(job)]) * part * PartOfGpu(TypeOf(job));
  }
  return seconds - 0.5 * s.SharedSeconds(job);
}

}  // namespace berth
