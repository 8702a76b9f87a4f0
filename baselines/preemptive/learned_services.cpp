#include "baselines/preemptive/learned_services.hpp"

namespace berth {

LearnedServices::LearnedServices(Params& params) {
  const std::string services = params.Text(kServicesParam.name);
  learns_ = services == "learned";
  if (!learns_)
    given_ = ServiceDistribution::Parse(services, "parameter 'services' (learned, or 600:600:7200)");
  delta_ = params.Number(kDeltaParam.name, 0.0, 1e15);
  now_ = given_;
}

void LearnedServices::Reset() {
  now_ = given_;
}

void LearnedServices::Learn(const ClusterView& view) {
  if (!learns_) return;
  for (int job : view.completed()) now_.Add(AttainedGpuSeconds(view, job));
}

}  // namespace berth
