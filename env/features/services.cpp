#include "env/features/services.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "env/features/physical_gpus.hpp"
#include "env/features/power.hpp"
#include "env/features/sharing.hpp"
#include "env/index.hpp"
#include "env/invariants.hpp"
#include "env/simulator.hpp"

namespace berth {
namespace {

constexpr std::array<const char*, 3> kPatterns = {"poisson", "diurnal", "bursty"};

ServiceState::Meter Grown(ServiceState::Meter meter, double time) {
  const double seconds = std::max(0.0, time - meter.since);
  meter.held_s += meter.held * seconds;
  meter.alone_s += meter.alone * seconds;
  meter.busy_s += meter.busy * seconds;
  meter.since = std::max(meter.since, time);
  return meter;
}

// The utilisation of an M/D/1 queue whose server is all the replicas together, 1 at most.
double BusyShare(const Scenario& scenario, const ServiceState& state, int service, double now) {
  const ServiceState::Service& own = state.services[U(service)];
  double speed = 0.0;
  for (int device : own.devices)
    speed += scenario.data().features.services->share * state.type_speed[U(scenario.TypeOfDevice(device))];
  return speed > 0.0 ? std::min(1.0, own.queue.Rate(now) * own.queue.WorkPerRequest(1) / speed) : 0.0;
}

RequestStream StreamOf(const ServiceSettings& settings, int service, std::uint64_t seed) {
  RequestStream::Settings stream;
  stream.rate = EntryFor(settings.rate_per_s, service);
  const auto at = std::find(kPatterns.begin(), kPatterns.end(), settings.pattern);
  stream.pattern = static_cast<RequestStream::Pattern>(at - kPatterns.begin());
  stream.amplitude = settings.amplitude;
  stream.period_s = settings.period_s;
  // Mean rate = share x burst rate + (1 - share) x calm rate, and the two phases last in that ratio.
  stream.burst_rate = settings.burst * stream.rate;
  stream.calm_rate =
      stream.rate * (1.0 - settings.burst_share * settings.burst) / (1.0 - settings.burst_share);
  stream.burst_s = settings.burst_s;
  stream.calm_s = settings.burst_s * (1.0 - settings.burst_share) / settings.burst_share;
  const auto env = static_cast<std::uint32_t>(service);
  return {stream, Stream(seed, Purpose::kRequests, Split::kTrain, env, /*episode=*/0)};
}

}  // namespace

void ServiceEngine::Start(Simulator& sim) {
  const ScenarioData& data = sim.scenario().data();
  const ServiceSettings& settings = *data.features.services;
  ServiceState state;
  state.replica_of.assign(U(sim.scenario().num_gpus()), -1);
  state.beside.assign(U(sim.scenario().num_gpus()), 0);
  state.meters.resize(U(sim.scenario().num_types()));
  for (int type = 0; type < sim.scenario().num_types(); ++type) {
    const double whole =
        settings.speed.empty()
            ? 1.0
            : EntryFor(settings.speed, static_cast<int>(EntryOfType(data, settings.speed.size(), type)));
    state.type_speed.push_back(whole * PartOf(data, type).fraction());
  }
  for (int service = 0; service < settings.count(); ++service) {
    const RequestQueue::Settings queue = {EntryFor(settings.base_s, service),
                                          EntryFor(settings.item_s, service),
                                          EntryFor(settings.slo_s, service), settings.max_batch};
    const auto env = static_cast<std::uint32_t>(service);
    state.services.push_back(
        {RequestQueue(queue, StreamOf(settings, service, data.seed),
                      Stream(data.seed, Purpose::kRequests, Split::kTrain, env, /*episode=*/1)),
         static_cast<int>(EntryFor(settings.replicas, service)),
         {}});
  }
  sim.state_.services = Owned<ServiceState>::Make(std::move(state));
  Claim(sim);
  sim.timers_.Push({sim.now() + settings.interval_s, TimerKind::kServices, 0});
}

bool ServiceEngine::OnTimer(Simulator& sim) {
  Play(sim);
  const ServiceSettings& settings = *sim.scenario().data().features.services;
  for (int service = 0; settings.pattern == "diurnal" && service < settings.count(); ++service)
    SetLoads(sim, service);
  sim.timers_.Push({sim.now() + settings.interval_s, TimerKind::kServices, 0});
  return true;
}

void ServiceEngine::Play(Simulator& sim) {
  for (ServiceState::Service& service : sim.state_.services->services) service.queue.PlayUntil(sim.now());
}

bool ServiceEngine::Allowed(const Simulator& sim, const Control& control) {
  if (!sim.state_.services) return false;
  const int services = static_cast<int>(sim.state_.services->services.size());
  return control.index >= 0 && control.index < services && control.value >= 0.0 &&
         control.value <= sim.scenario().num_gpus() &&
         control.value == static_cast<double>(static_cast<int>(control.value));
}

void ServiceEngine::CarryOut(Simulator& sim, const Control& control) {
  ServiceState& state = *sim.state_.services;
  ServiceState::Service& service = state.services[U(control.index)];
  service.wanted = static_cast<int>(control.value);
  if (static_cast<int>(service.devices.size()) <= service.wanted) return;
  // Slowest type first, highest device first: the reverse of how they came.
  const ServiceSettings& settings = *sim.scenario().data().features.services;
  const auto speed = [&](int d) { return state.type_speed[U(sim.scenario().TypeOfDevice(d))]; };
  std::stable_sort(service.devices.begin(), service.devices.end(),
                   [&](int a, int b) { return speed(a) > speed(b); });
  std::vector<int> gone(service.devices.begin() + service.wanted, service.devices.end());
  service.devices.resize(U(service.wanted));
  std::sort(service.devices.begin(), service.devices.end());
  for (int device : gone) Remove(sim, device);
  SetReplicas(sim, control.index);
  for (int device : gone) {
    if (settings.share >= 1.0) {
      sim.SetService(device, kServing, false);
    } else {
      for (int job : HoldersOf(sim.state_, device)) sim.Rerate(job);
    }
  }
}

void ServiceEngine::Claim(Simulator& sim) {
  SimState& s = sim.state_;
  ServiceState& state = *s.services;
  const ServiceSettings& settings = *sim.scenario().data().features.services;
  const bool whole = settings.share >= 1.0;
  for (int service = 0; service < settings.count(); ++service) {
    ServiceState::Service& own = state.services[U(service)];
    bool changed = false;
    while (static_cast<int>(own.devices.size()) < own.wanted) {
      int best = -1;
      double best_speed = 0.0;
      bool best_idle = false;
      for (int d = 0; d < sim.scenario().num_gpus(); ++d) {
        if (s.out_of_service[U(d)] != 0 || state.replica_of[U(d)] >= 0) continue;
        const bool idle = s.device_job[U(d)] < 0;
        if (whole && !idle) continue;
        const double speed = state.type_speed[U(sim.scenario().TypeOfDevice(d))];
        if (speed <= 0.0 || (best >= 0 && std::pair(idle, speed) <= std::pair(best_idle, best_speed)))
          continue;
        best = d, best_speed = speed, best_idle = idle;
      }
      if (best < 0) break;
      own.devices.insert(std::upper_bound(own.devices.begin(), own.devices.end(), best), best);
      state.replica_of[U(best)] = service;
      changed = true;
      if (whole) {
        sim.SetService(best, kServing, true);
      } else {
        for (int job : HoldersOf(s, best)) {
          if (s.phase[U(job)] == JobPhase::kRunning) sim.Rerate(job);
        }
      }
    }
    if (changed) SetReplicas(sim, service);
  }
}

void ServiceEngine::Lose(Simulator& sim, int device) {
  ServiceState& state = *sim.state_.services;
  const int service = state.replica_of[U(device)];
  if (service < 0) return;
  std::vector<int>& devices = state.services[U(service)].devices;
  devices.erase(std::find(devices.begin(), devices.end(), device));
  Remove(sim, device);
  SetReplicas(sim, service);
  sim.state_.out_of_service[U(device)] &= static_cast<std::uint8_t>(~kServing);  // other reasons remain
  if (sim.scenario().data().features.services->share >= 1.0) return;
  for (int job : HoldersOf(sim.state_, device)) {  // a draining device keeps them
    if (sim.state_.phase[U(job)] == JobPhase::kRunning) sim.Rerate(job);
  }
}

void ServiceEngine::Remove(Simulator& sim, int device) {
  sim.state_.services->replica_of[U(device)] = -1;
  if (sim.state_.power) PowerEngine::SetReplicaLoad(sim, device, 0);
}

void ServiceEngine::SetReplicas(Simulator& sim, int service) {
  SetSpeeds(sim, service);
  SetLoads(sim, service);
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

double ServiceEngine::RateFactor(const Scenario& scenario, const SimState& s, int job) {
  const ServiceSettings& settings = *scenario.data().features.services;
  if (settings.share >= 1.0) return 1.0;
  for (int device : s.Devices(job)) {
    if (s.services->replica_of[U(device)] >= 0) return 1.0 - settings.share;
  }
  return 1.0;
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

std::string ServiceViolation(const InvariantInput& in) {
  if (!in.state.services) return "";
  const ServiceState& state = *in.state.services;
  const bool whole = in.scenario.data().features.services->share >= 1.0;
  const bool steady = in.scenario.data().features.services->pattern != "diurnal";
  std::vector<int> listed(state.replica_of.size(), -1);
  for (int service = 0; service < static_cast<int>(state.services.size()); ++service) {
    const ServiceState::Service& own = state.services[U(service)];
    for (int device : own.devices) listed[U(device)] = service;
    if (steady && own.busy != BusyShare(in.scenario, state, service, in.state.now))
      return Join("service ", service, " is said to work ", own.busy, " of the time");
  }
  std::vector<int> beside(state.beside.size(), 0);
  for (int job : in.state.running) {
    if (in.state.phase[U(job)] != JobPhase::kRunning) continue;
    for (int device : in.state.Devices(job)) ++beside[U(device)];
  }
  for (std::size_t d = 0; d < listed.size(); ++d) {
    if (listed[d] != state.replica_of[d])
      return Join("device ", d, ": service ", listed[d], " lists it, noted is ", state.replica_of[d]);
    const int out = in.state.out_of_service[d];
    if (out != (listed[d] >= 0 && whole ? out | kServing : out & ~kServing))
      return Join("device ", d, ": whether a replica holds it and its service disagree");
    if (listed[d] >= 0 && (out & ~kServing) != 0)
      return Join("device ", d, ": a replica, and out of service");
    if (beside[d] != state.beside[d])
      return Join("device ", d, ": ", beside[d], " jobs run there, ", state.beside[d], " are counted");
  }
  return "";
}

}  // namespace berth
