// The service distribution that a blind scheduler goes by: given in its parameters, or the GPU-seconds of the
// jobs that it has seen complete.
#pragma once

#include "baselines/preemptive/service_distribution.hpp"
#include "env/base/spec.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

inline constexpr ParamInfo kServicesParam = {
    "services", "learned",
    "GPU-seconds that jobs need, equally likely, as in 600:600:7200; learned = those of completed jobs"};
inline constexpr ParamInfo kDeltaParam = {
    "delta", "0",
    "GPU-seconds ahead that the index looks at, as in Tiresias' simulator (3250); 0 = the best"};

class LearnedServices {
 public:
  explicit LearnedServices(Params& params);  // reads services and delta
  void Reset();
  void Learn(const ClusterView& view);  // at every decision point; needs kBlind
  double Index(double attained) const { return now_.GittinsIndex(attained, delta_); }

 private:
  bool learns_;
  ServiceDistribution given_, now_;
  double delta_;
};

// GPU-seconds that a job has had; needs kBlind.
inline double AttainedGpuSeconds(const ClusterView& view, int job) {
  return view.AttainedSeconds(job) * view.Gang(job);
}

}  // namespace berth
