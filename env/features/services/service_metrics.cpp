#include "env/features/partitions/partitions.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/metrics.hpp"

namespace berth {

void MeasureServices(const Simulator& simulator, Metrics& into) {
  if (!simulator.state().services) return;
  ServiceState played = *simulator.state().services;  // up to now, the simulation itself stays where it is
  LatencyHistogram all;
  double arrived = 0.0, in_time = 0.0;
  for (ServiceState::Service& service : played.services) {
    service.queue.PlayUntil(simulator.now());
    all.Add(service.queue.latencies());
    all.Add(kNeverAnswered, service.queue.arrived() - service.queue.answered());
    arrived += static_cast<double>(service.queue.arrived());
    in_time += static_cast<double>(service.queue.within_slo());
  }
  const Scenario& scenario = simulator.scenario();
  for (int type = 0; type < scenario.num_types(); ++type) {
    const double held = ServedOn(simulator.state(), type).held_s;
    into.service_gpu_hours += held * WeightOf(scenario.data(), type).busy / 3600.0;
  }
  into.service_p50_s = all.Quantile(0.50);
  into.service_p95_s = all.Quantile(0.95);
  into.service_p99_s = all.Quantile(0.99);
  if (simulator.now() > 0.0) into.service_goodput_per_s = in_time / simulator.now();
  if (arrived > 0.0) into.service_attainment = in_time / arrived;
}

}  // namespace berth
