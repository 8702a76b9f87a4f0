#include "env/features/services/services.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/core.hpp"
#include "env/sim/physical_gpus.hpp"

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
  stream.begins_s = settings.begins_s;
  // Mean rate = share x burst rate + (1 - share) x calm rate, and the two phases last in that ratio.
  stream.burst_rate = settings.burst * stream.rate;
  stream.calm_rate =
      stream.rate * (1.0 - settings.burst_share * settings.burst) / (1.0 - settings.burst_share);
  stream.burst_s = settings.burst_s;
  stream.calm_s = settings.burst_s * (1.0 - settings.burst_share) / settings.burst_share;
  const auto env = static_cast<std::uint32_t>(service);
  return {stream, Stream(seed, kRequestDraws, Split::kTrain, env, /*episode=*/0)};
}

// Is a replica's share left of a GPU of which so much is promised? Thousandths add up to 1e-15 or so.
bool Leaves(double promised, double share) {
  return promised + share <= 1.0 + 1e-9;
}

double PromisedOn(const SimCore& core, int device) {
  double promised = 0.0;
  for (const FeatureState& feature : core.state().features.Of(Hook::kPromised))
    promised += feature.Promised(core.scenario(), core.state(), device);
  return promised;
}

}  // namespace

double ServiceState::HeldShare(int device) const {
  return replica_of[U(device)] >= 0 ? settings_->share : 0.0;
}

std::unique_ptr<FeatureState> ServiceSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<ServiceState>(*this, scenario);
}

ServiceState::ServiceState(const ServiceSettings& settings, const Scenario& scenario)
    : replica_of(U(scenario.num_gpus()), -1),
      meters(U(scenario.num_types())),
      beside(U(scenario.num_gpus()), 0),
      settings_(&settings) {
  const ScenarioData& data = scenario.data();
  for (int type = 0; type < scenario.num_types(); ++type) {
    const double whole =
        settings.speed.empty()
            ? 1.0
            : EntryFor(settings.speed, static_cast<int>(EntryOfType(data, settings.speed.size(), type)));
    type_speed.push_back(whole * PartOf(data, type).fraction());
  }
  for (int service = 0; service < settings.count(); ++service) {
    const RequestQueue::Settings queue = {EntryFor(settings.base_s, service),
                                          EntryFor(settings.item_s, service),
                                          EntryFor(settings.slo_s, service), settings.max_batch};
    const auto env = static_cast<std::uint32_t>(service);
    services.push_back({RequestQueue(queue, StreamOf(settings, service, data.seed),
                                     Stream(data.seed, kRequestDraws, Split::kTrain, env, /*episode=*/1)),
                        static_cast<int>(EntryFor(settings.replicas, service)),
                        {}});
  }
}

void ServiceState::Start(SimCore& core) {
  Claim(core);
  core.SetTimer({core.now() + settings_->interval_s, kServices, 0});
}

bool ServiceState::OnTimer(SimCore& core, const Timer&) {
  for (Service& service : services) service.queue.PlayUntil(core.now());
  for (int service = 0; settings_->pattern == "diurnal" && service < settings_->count(); ++service)
    SetLoads(core, service);
  core.SetTimer({core.now() + settings_->interval_s, kServices, 0});
  return true;
}

bool ServiceState::Allows(const SimCore& core, const Control& control) const {
  return control.kind == kReplicasControl && control.index >= 0 &&
         control.index < static_cast<int>(services.size()) && control.value >= 0.0 &&
         control.value <= core.scenario().num_gpus() &&
         control.value == static_cast<double>(static_cast<int>(control.value));
}

bool ServiceState::CarryOut(SimCore& core, const Control& control) {
  if (control.kind != kReplicasControl) return false;
  Service& service = services[U(control.index)];
  service.wanted = static_cast<int>(control.value);
  if (static_cast<int>(service.devices.size()) <= service.wanted) return true;
  // Slowest type first, highest device first: the reverse of how they came.
  const auto speed = [&](int d) { return type_speed[U(core.scenario().TypeOfDevice(d))]; };
  std::stable_sort(service.devices.begin(), service.devices.end(),
                   [&](int a, int b) { return speed(a) > speed(b); });
  std::vector<int> gone(service.devices.begin() + service.wanted, service.devices.end());
  service.devices.resize(U(service.wanted));
  std::sort(service.devices.begin(), service.devices.end());
  for (int device : gone) Remove(core, device);
  SetReplicas(core, control.index);
  for (int device : gone) {
    if (settings_->share >= 1.0) core.SetService(device, kHeld, false);
    AfterReplica(core, device);
  }
  return true;
}

void ServiceState::Claim(SimCore& core) {
  const SimState& s = core.state();
  const bool whole = settings_->share >= 1.0;
  for (int service = 0; service < settings_->count(); ++service) {
    Service& own = services[U(service)];
    bool changed = false;
    while (true) {
      const auto leaving = std::find_if(own.devices.begin(), own.devices.end(),
                                        [&](int d) { return (s.out_of_service[U(d)] & kVacating) != 0; });
      const int left = leaving != own.devices.end() ? *leaving : -1;
      const bool lacks = static_cast<int>(own.devices.size()) < own.wanted;
      if (!lacks && left < 0) break;
      int best = -1;
      double best_speed = 0.0;
      bool best_idle = false;
      for (int d = 0; d < core.scenario().num_gpus(); ++d) {
        if (s.out_of_service[U(d)] != 0 || replica_of[U(d)] >= 0) continue;
        const bool idle = s.device_job[U(d)] < 0;
        if (whole && !idle) continue;
        if (!Leaves(PromisedOn(core, d), settings_->share)) continue;
        const double speed = type_speed[U(core.scenario().TypeOfDevice(d))];
        if (speed <= 0.0 || (best >= 0 && std::pair(idle, speed) <= std::pair(best_idle, best_speed)))
          continue;
        best = d, best_speed = speed, best_idle = idle;
      }
      if (best < 0) break;
      own.devices.insert(std::upper_bound(own.devices.begin(), own.devices.end(), best), best);
      replica_of[U(best)] = service;
      changed = true;
      if (whole) {
        core.SetService(best, kHeld, true);
      } else {
        core.RerateOn(best);
      }
      if (!lacks) OnLost(core, left);  // it goes on at the new one
    }
    if (changed) SetReplicas(core, service);
  }
}

void ServiceState::OnLost(SimCore& core, int device) {
  const int service = replica_of[U(device)];
  if (service < 0) return;
  std::vector<int>& devices = services[U(service)].devices;
  devices.erase(std::find(devices.begin(), devices.end(), device));
  Remove(core, device);
  SetReplicas(core, service);
  core.state().out_of_service[U(device)] &= static_cast<std::uint8_t>(~kHeld);  // other reasons remain
  AfterReplica(core, device);  // a draining device keeps its jobs
}

void ServiceState::AfterReplica(SimCore& core, int device) {
  if (settings_->share < 1.0) core.RerateOn(device);
  for (FeatureState& feature : core.state().features.Of(Hook::kAfterRelease))
    feature.AfterRelease(core, device);
}

void ServiceState::MakeRoom(SimCore& core, int device, double promised) {
  if (promised <= 0.0 || replica_of[U(device)] < 0) return;
  if (!Leaves(PromisedOn(core, device) + promised, settings_->share)) OnLost(core, device);
}

void ServiceState::Remove(SimCore& core, int device) {
  replica_of[U(device)] = -1;
  for (FeatureState& feature : core.state().features.Of(Hook::kOnDeviceLoad))
    feature.OnDeviceLoad(core, device);
}

void ServiceState::SetReplicas(SimCore& core, int service) {
  SetSpeeds(core, service);
  SetLoads(core, service);
}

double ServiceState::GpuFactor(const Scenario& scenario, const SimState& s, int job,
                               bool /*full_clocks*/) const {
  if (settings_->share >= 1.0 || scenario.HoldsPart(job)) return 1.0;
  for (int device : s.Devices(job)) {
    if (replica_of[U(device)] >= 0) return 1.0 - settings_->share;
  }
  return 1.0;
}

double ServiceState::Late() const {
  double late = 0.0;
  for (const Service& service : services) {
    late +=
        static_cast<double>(service.queue.answered() - service.queue.within_slo()) + service.queue.overdue();
  }
  return late;
}

FeatureModule ServicesFeature() {
  using enum MetricInfo::Place;
  static constexpr TimerKind kTimers[] = {kServices};
  static constexpr MetricInfo kMetrics[] = {
      {"service_p50_s", "latency of a request, median, to 1%", kJobs, false, kLongestLatency},
      {"service_p95_s", "the same, 95th percentile", kJobs, false, kLongestLatency},
      {"service_p99_s", "the same, 99th percentile", kJobs, false, kLongestLatency},
      {"service_goodput_per_s", "requests answered in time a second of the run", kJobs},
      {"service_attainment", "requests answered in time, share of those that came", kJobs},
      {"service_gpu_hours", "GPU-hours held by replicas", kJobs}};
  static constexpr BlockInfo (*kBlocks[])() = {ServicesBlock};
  static constexpr ActionInfo (*kActions[])() = {ReplicasAction};
  FeatureModule module = ModuleOf<ServiceSettings>();
  module.timers = kTimers;
  module.metrics = kMetrics;
  module.blocks = kBlocks;
  module.actions = kActions;
  return module;
}

}  // namespace berth
