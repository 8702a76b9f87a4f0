// What a run says of its services, all together.
#include "env/features/services/services.hpp"
#include "env/sim/core.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth {

void ServiceState::Measure(const SimCore& core, std::span<double> figures) const {
  ServiceState played = *this;  // up to now, the simulation itself stays where it is
  LatencyHistogram all;
  double arrived = 0.0, in_time = 0.0;
  for (Service& service : played.services) {
    service.queue.PlayUntil(core.now());
    all.Add(service.queue.latencies());
    all.Add(kNeverAnswered, service.queue.arrived() - service.queue.answered());
    arrived += static_cast<double>(service.queue.arrived());
    in_time += static_cast<double>(service.queue.within_slo());
  }
  double gpu_hours = 0.0;
  const Scenario& scenario = core.scenario();
  for (int type = 0; type < scenario.num_types(); ++type)
    gpu_hours += MeterAt(core.now(), type).held_s * WeightOf(scenario.data(), type).busy / 3600.0;
  figures[0] = all.Quantile(0.50);
  figures[1] = all.Quantile(0.95);
  figures[2] = all.Quantile(0.99);
  if (core.now() > 0.0) figures[3] = in_time / core.now();
  if (arrived > 0.0) figures[4] = in_time / arrived;
  figures[5] = gpu_hours;
}

}  // namespace berth
