#include "env/features/services/services.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "env/base/index.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/partitions/physical_gpus.hpp"
#include "env/features/power/power.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

constexpr std::array<const char*, 3> kPatterns = {"poisson", "diurnal", "bursty"};

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

// Is a replica's share left of a GPU of which so much is promised? Thousandths add up to 1e-15 or so.
bool Leaves(double promised, double share) {
  return promised + share <= 1.0 + 1e-9;
}

}  // namespace

double ReplicaShare(const Scenario& scenario, const SimState& s, int device) {
  return s.services->replica_of[U(device)] >= 0 ? scenario.data().features.services->share : 0.0;
}

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
      SharingEngine::Rerate(sim, device);
    }
    if (sim.state_.partitions) PartitionEngine::Released(sim, device);
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
    while (true) {
      const auto leaving = std::find_if(own.devices.begin(), own.devices.end(), [&](int d) {
        return (s.out_of_service[U(d)] & kReconfiguring) != 0;
      });
      const int left = leaving != own.devices.end() ? *leaving : -1;
      const bool lacks = static_cast<int>(own.devices.size()) < own.wanted;
      if (!lacks && left < 0) break;
      int best = -1;
      double best_speed = 0.0;
      bool best_idle = false;
      for (int d = 0; d < sim.scenario().num_gpus(); ++d) {
        if (s.out_of_service[U(d)] != 0 || state.replica_of[U(d)] >= 0) continue;
        const bool idle = s.device_job[U(d)] < 0;
        if (whole && !idle) continue;
        if (!Leaves(PromisedOn(sim.scenario(), s, d), settings.share)) continue;
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
        SharingEngine::Rerate(sim, best);
      }
      if (!lacks) Lose(sim, left);  // it goes on at the new one
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
  // A draining device keeps its jobs.
  if (sim.scenario().data().features.services->share < 1.0) SharingEngine::Rerate(sim, device);
  if (sim.state_.partitions) PartitionEngine::Released(sim, device);
}

void ServiceEngine::MakeRoom(Simulator& sim, int device, double promised) {
  if (promised <= 0.0 || sim.state_.services->replica_of[U(device)] < 0) return;
  const double all = PromisedOn(sim.scenario(), sim.state_, device) + promised;
  if (!Leaves(all, sim.scenario().data().features.services->share)) Lose(sim, device);
}

void ServiceEngine::Remove(Simulator& sim, int device) {
  sim.state_.services->replica_of[U(device)] = -1;
  if (sim.state_.power) PowerEngine::SetReplicaLoad(sim, device, 0);
}

void ServiceEngine::SetReplicas(Simulator& sim, int service) {
  SetSpeeds(sim, service);
  SetLoads(sim, service);
}

double ServiceEngine::RateFactor(const Scenario& scenario, const SimState& s, int job) {
  const ServiceSettings& settings = *scenario.data().features.services;
  if (settings.share >= 1.0) return 1.0;
  const std::vector<int>& milli = scenario.data().jobs.gpu_milli;
  if (s.sharing && !milli.empty() && milli[U(job)] < 1000) return 1.0;
  for (int device : s.Devices(job)) {
    if (s.services->replica_of[U(device)] >= 0) return 1.0 - settings.share;
  }
  return 1.0;
}

}  // namespace berth
