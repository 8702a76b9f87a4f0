// How fast replicas are and what they use: of GPUs, of power, of time (services.hpp).
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/partitions/physical_gpus.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

ServiceState::Meter Grown(ServiceState::Meter meter, double time) {
  const double seconds = std::max(0.0, time - meter.since);
  meter.held_s += meter.held * seconds;
  meter.alone_s += meter.alone * seconds;
  meter.busy_s += meter.busy * seconds;
  meter.since = std::max(meter.since, time);
  return meter;
}

}  // namespace

double BusyShare(const Scenario& scenario, const ServiceState& state, int service, double now) {
  const ServiceState::Service& own = state.services[U(service)];
  double speed = 0.0;
  for (int device : own.devices)
    speed += scenario.data().features.services->share * state.type_speed[U(scenario.TypeOfDevice(device))];
  return speed > 0.0 ? std::min(1.0, own.queue.Rate(now) * own.queue.WorkPerRequest(1) / speed) : 0.0;
}

void ServiceEngine::SetSpeeds(Simulator& sim, int service) {
  const ServiceSettings& settings = *sim.scenario().data().features.services;
  ServiceState& state = *sim.state_.services;
  ServiceState::Service& own = state.services[U(service)];
  std::vector<double> speeds;
  for (int device : own.devices) {
    double speed = settings.share * state.type_speed[U(sim.scenario().TypeOfDevice(device))];
    if (sim.state_.power)
      speed *= PowerEngine::ClockSpeed(*sim.scenario().data().features.power, *sim.state_.power, device);
    speeds.push_back(speed);
  }
  const double before = own.queue.replicas();
  own.replica_seconds += before * (sim.now() - own.since);
  own.since = sim.now();
  own.queue.SetReplicas(sim.now(), own.devices, speeds);
}

void ServiceEngine::SetLoads(Simulator& sim, int service) {
  ServiceState::Service& own = sim.state_.services->services[U(service)];
  own.busy = BusyShare(sim.scenario(), *sim.state_.services, service, sim.now());
  for (int device : own.devices) {
    if (sim.state_.power)
      PowerEngine::SetReplicaLoad(sim, device, ReplicaLoad(sim.scenario(), sim.state_, device));
  }
  Count(sim, sim.now());
}

void ServiceEngine::Count(Simulator& sim, double time) {
  ServiceState& state = *sim.state_.services;
  const double share = sim.scenario().data().features.services->share;
  for (ServiceState::Meter& meter : state.meters) meter = Grown(meter, time);
  for (ServiceState::Meter& meter : state.meters) meter.held = meter.alone = meter.busy = 0.0;
  for (const ServiceState::Service& service : state.services) {
    for (int device : service.devices) {
      ServiceState::Meter& meter = state.meters[U(sim.scenario().TypeOfDevice(device))];
      const bool alone = state.beside[U(device)] == 0;
      meter.held += share;
      meter.alone += alone ? share : 0.0;
      meter.busy += alone ? share * service.busy : 0.0;
    }
  }
}

void ServiceEngine::OnRun(Simulator& sim, int job, double time, bool starts) {
  ServiceState& state = *sim.state_.services;
  bool serves = false;
  for (int device : sim.state_.Devices(job)) {
    state.beside[U(device)] = static_cast<std::int16_t>(state.beside[U(device)] + (starts ? 1 : -1));
    serves = serves || state.replica_of[U(device)] >= 0;
  }
  if (serves) Count(sim, time);
}

void ServiceEngine::OnClocks(Simulator& sim, const std::vector<int>& gpus) {
  const ServiceState& state = *sim.state_.services;
  for (int service = 0; service < static_cast<int>(state.services.size()); ++service) {
    const std::vector<int>& devices = state.services[U(service)].devices;
    const bool any = std::any_of(devices.begin(), devices.end(), [&](int d) {
      return std::binary_search(gpus.begin(), gpus.end(), sim.state_.power->GpuOf(d));
    });
    if (any) SetSpeeds(sim, service);
  }
}

ServiceState::Meter ServedOn(const SimState& s, int type) {
  return Grown(s.services->meters[U(type)], s.now);
}

std::int64_t ReplicaLoad(const Scenario& scenario, const SimState& s, int device) {
  const int service = s.services->replica_of[U(device)];
  if (service < 0) return 0;
  const double share = scenario.data().features.services->share;
  const double part = PartOf(scenario.data(), scenario.TypeOfDevice(device)).fraction();
  const double busy = s.services->services[U(service)].busy;
  return static_cast<std::int64_t>(share * part * busy * static_cast<double>(kLoadUnit) + 0.5);
}

}  // namespace berth
