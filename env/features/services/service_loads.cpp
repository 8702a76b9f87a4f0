// How fast replicas are and what they use: of GPUs, of power, of time (services.hpp).
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/core.hpp"
#include "env/sim/physical_gpus.hpp"

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

double ServiceState::BusyShareOf(const Scenario& scenario, int service, double now) const {
  const Service& own = services[U(service)];
  double speed = 0.0;
  for (int device : own.devices) speed += settings_->share * type_speed[U(scenario.TypeOfDevice(device))];
  return speed > 0.0 ? std::min(1.0, own.queue.Rate(now) * own.queue.WorkPerRequest(1) / speed) : 0.0;
}

void ServiceState::SetSpeeds(SimCore& core, int service) {
  Service& own = services[U(service)];
  std::vector<double> speeds;
  for (int device : own.devices) {
    double speed = settings_->share * type_speed[U(core.scenario().TypeOfDevice(device))];
    for (const FeatureState& feature : core.state().features.Of(Hook::kClockSpeed))
      speed *= feature.ClockSpeed(device);
    speeds.push_back(speed);
  }
  const double before = own.queue.replicas();
  own.replica_seconds += before * (core.now() - own.since);
  own.since = core.now();
  own.queue.SetReplicas(core.now(), own.devices, speeds);
}

void ServiceState::SetLoads(SimCore& core, int service) {
  Service& own = services[U(service)];
  own.busy = BusyShareOf(core.scenario(), service, core.now());
  for (int device : own.devices) {
    for (FeatureState& feature : core.state().features.Of(Hook::kOnDeviceLoad))
      feature.OnDeviceLoad(core, device);
  }
  Count(core.scenario(), core.now());
}

void ServiceState::Count(const Scenario& scenario, double time) {
  const double share = settings_->share;
  for (Meter& meter : meters) meter = Grown(meter, time);
  for (Meter& meter : meters) meter.held = meter.alone = meter.busy = 0.0;
  for (const Service& service : services) {
    for (int device : service.devices) {
      Meter& meter = meters[U(scenario.TypeOfDevice(device))];
      const bool alone = beside[U(device)] == 0;
      meter.held += share;
      meter.alone += alone ? share : 0.0;
      meter.busy += alone ? share * service.busy : 0.0;
    }
  }
}

void ServiceState::OnRun(SimCore& core, int job, double time, double /*held_s*/, bool starts) {
  bool serves = false;
  for (int device : core.state().Devices(job)) {
    beside[U(device)] = static_cast<std::int16_t>(beside[U(device)] + (starts ? 1 : -1));
    serves = serves || replica_of[U(device)] >= 0;
  }
  if (serves) Count(core.scenario(), time);
}

void ServiceState::OnClocks(SimCore& core, std::span<const int> changed) {
  for (int service = 0; service < static_cast<int>(services.size()); ++service) {
    const std::vector<int>& devices = services[U(service)].devices;
    const bool any = std::any_of(devices.begin(), devices.end(), [&](int d) {
      return std::binary_search(changed.begin(), changed.end(), d);
    });
    if (any) SetSpeeds(core, service);
  }
}

ServiceState::Meter ServiceState::MeterAt(double now, int type) const {
  return Grown(meters[U(type)], now);
}

DeviceUse ServiceState::Used(double now, int type) const {
  const Meter meter = MeterAt(now, type);
  return {meter.alone_s, meter.busy_s};
}

double ServiceState::DeviceLoad(const Scenario& scenario, int device) const {
  const int service = replica_of[U(device)];
  if (service < 0) return 0.0;
  const double part = PartOf(scenario.data(), scenario.TypeOfDevice(device)).fraction();
  return settings_->share * part * services[U(service)].busy;
}

}  // namespace berth
