// How power, levels and heat follow what runs (power.hpp).
#include <algorithm>
#include <cmath>
#include <utility>

#include "env/base/index.hpp"
#include "env/features/power/heat.hpp"
#include "env/features/power/power.hpp"
#include "env/sim/core.hpp"
#include "env/sim/effective_rate.hpp"

namespace berth {

std::unique_ptr<FeatureState> PowerSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<PowerState>(*this, scenario);
}

PowerState::PowerState(const PowerSettings& settings, const Scenario& scenario)
    : gpus(std::make_shared<const PhysicalGpus>(MakePhysicalGpus(scenario.data()))), settings_(&settings) {
  const ScenarioData& data = scenario.data();
  const auto count = U(gpus->count()), nodes = U(scenario.num_nodes());
  for (const GpuType& of_type : data.cluster.types) {
    idle_w.push_back(of_type.idle_power_w);
    peak_w.push_back(of_type.peak_power_w);
  }
  int kinds = 0;
  for (int g = 0; g < scenario.num_types(); ++g) kind.push_back(gpus->parts[U(g)].whole == g ? kinds++ : -1);
  for (int gpu = 0; gpu < gpus->count(); ++gpu) {
    type.push_back(static_cast<std::uint8_t>(gpus->type[U(gpu)]));
    node.push_back(gpus->node[U(gpu)]);
    while (first_gpu.size() <= U(node.back())) {
      first_gpu.push_back(gpu);
      node_cap_w.push_back(settings.NodeCap(kind[type.back()]));
    }
  }
  first_gpu.push_back(gpus->count());
  for (std::size_t t = 0; t < data.throughputs.job_types.size(); ++t) {
    for (int l = 0; l < settings.levels(); ++l) speed.push_back(settings.Speed(static_cast<int>(t), l));
  }
  for (int l = 0; l < settings.levels(); ++l) dynamic_share.push_back(settings.DynamicShare(l));
  const auto top = static_cast<std::uint8_t>(settings.levels() - 1);
  for (auto* levels : {&asked, &level, &next_level}) levels->assign(count, top);
  for (auto* shares : {&duty, &next_duty}) shares->assign(count, 1.0);
  for (auto* sums : {&joules, &cost, &since, &watts, &temperature_c}) sums->assign(count, 0.0);
  load.assign(count, 0);
  job_load.assign(U(scenario.num_jobs()), 0);
  other_load.assign(U(scenario.num_gpus()), 0);
  throttled.assign(count, 0);
  throttles.assign(count, 0);
  timer.assign(count, 0);
  dirty.assign(nodes, 0);
  cap_w = settings.cap_w > 0.0 ? settings.cap_w : kNever;
  for (int gpu = 0; gpu < gpus->count(); ++gpu) {
    watts[U(gpu)] = WattsAt(*this, gpu, top, 1.0);
    const HeatPath path = HeatOf(settings, *this, gpu);
    temperature_c[U(gpu)] = path.around.At(0.0) + path.rise_c;
  }
}

void PowerState::Start(SimCore& core) {
  for (int gpu = 0; gpu < gpus->count(); ++gpu) Await(core, gpu);
}

void PowerState::Mark(int n) {
  if (dirty[U(n)] != 0) return;
  dirty[U(n)] = 1;
  dirty_nodes.push_back(n);
}

std::int64_t PowerState::LoadOf(const Scenario& scenario, const SimState& s, int job) const {
  const std::vector<double>& utilization = scenario.data().traits.utilization;
  const double used = utilization.empty() ? 1.0 : utilization[U(scenario.data().jobs.job_type[U(job)])];
  double given = 1.0;
  for (const FeatureState& feature : s.features.Of(Hook::kGpuShare))
    given *= feature.GpuShare(scenario, s, job);
  const TypePart& part = gpus->parts[U(s.on_type[U(job)])];
  const std::int64_t wanted = static_cast<std::int64_t>(used * 1e6 * given + 0.5) * kLoadParts;
  const std::int64_t whole = static_cast<std::int64_t>(1e6 * given + 0.5) * kLoadParts;
  const std::int64_t most = std::min(wanted, whole * part.compute / part.of);
  const double busy = GpuBusyShare(scenario, s, job);
  return busy < 1.0 ? static_cast<std::int64_t>(busy * static_cast<double>(most) + 0.5) : most;
}

std::int64_t PowerState::OtherLoadOn(const Scenario& scenario, const SimState& s, int device) const {
  double used = 0.0;
  for (const FeatureState& feature : s.features.Of(Hook::kDeviceLoad))
    used += feature.DeviceLoad(scenario, device);
  return static_cast<std::int64_t>(used * static_cast<double>(kLoadUnit) + 0.5);
}

void PowerState::SetJobLoad(SimCore& core, int job, std::int64_t now) {
  const std::int64_t more = now - std::exchange(job_load[U(job)], now);
  if (more == 0) return;
  for (int d : core.state().Devices(job)) {
    load[U(GpuOf(d))] += more;
    Mark(node[U(GpuOf(d))]);
  }
}

void PowerState::OnRate(SimCore& core, int job) {
  SetJobLoad(core, job, LoadOf(core.scenario(), core.state(), job));
}

void PowerState::OnRun(SimCore& core, int job, double /*time*/, double /*held_s*/, bool starts) {
  if (!starts) SetJobLoad(core, job, 0);
}

void PowerState::OnDeviceLoad(SimCore& core, int device) {
  const std::int64_t now = OtherLoadOn(core.scenario(), core.state(), device);
  const int gpu = GpuOf(device);
  load[U(gpu)] += now - std::exchange(other_load[U(device)], now);
  Mark(node[U(gpu)]);
}

// The levels and duties that the GPUs of a node would have but for the cluster's cap.
void PowerState::Propose(int n) {
  const int begin = first_gpu[U(n)], end = first_gpu[U(n) + 1];
  for (int gpu = begin; gpu < end; ++gpu) {
    const int wanted = asked[U(gpu)];
    next_level[U(gpu)] = static_cast<std::uint8_t>(
        throttled[U(gpu)] != 0 ? std::min(wanted, settings_->throttle_level) : wanted);
    next_duty[U(gpu)] = 1.0;
  }
  HoldCap(*settings_, *this, begin, end, node_cap_w[U(n)]);
}

void PowerState::Settle(SimCore& core) {
  if (dirty_nodes.empty()) return;
  const SimState& s = core.state();
  const bool capped = cap_w != kNever;
  const int nodes = core.scenario().num_nodes();
  for (int n = 0; capped && n < nodes; ++n) Mark(n);
  std::sort(dirty_nodes.begin(), dirty_nodes.end());
  for (int n : dirty_nodes) Propose(n);
  if (capped) HoldCap(*settings_, *this, 0, gpus->count(), cap_w);
  std::vector<int> changed;  // devices with another pace
  for (int n : dirty_nodes) {
    for (int gpu = first_gpu[U(n)]; gpu < first_gpu[U(n) + 1]; ++gpu) {
      if (!Adopt(core, gpu)) continue;
      const std::span<const int> own = gpus->Devices(gpu);
      changed.insert(changed.end(), own.begin(), own.end());
    }
    dirty[U(n)] = 0;
  }
  dirty_nodes.clear();
  if (changed.empty()) return;
  for (int d : changed) {
    for (int one : s.HoldersOf(d)) {
      if (s.phase[U(one)] == JobPhase::kRunning) core.Rerate(one);
    }
  }
  std::sort(changed.begin(), changed.end());
  for (FeatureState& feature : core.state().features.Of(Hook::kOnClocks)) feature.OnClocks(core, changed);
}

bool PowerState::Adopt(SimCore& core, int gpu) {
  const double draw = WattsAt(*this, gpu, next_level[U(gpu)], next_duty[U(gpu)]);
  const bool changed = level[U(gpu)] != next_level[U(gpu)] || duty[U(gpu)] != next_duty[U(gpu)];
  level[U(gpu)] = next_level[U(gpu)];
  duty[U(gpu)] = next_duty[U(gpu)];
  if (draw != watts[U(gpu)]) {
    Accrue(core.now(), gpu);
    watts[U(gpu)] = draw;
    Await(core, gpu);
  }
  return changed;
}

// Brings energy, cost and temperature up to now.
void PowerState::Accrue(double now, int gpu) {
  temperature_c[U(gpu)] = HeatOf(*settings_, *this, gpu).At(now);
  const double draw = watts[U(gpu)], from = since[U(gpu)];
  joules[U(gpu)] += draw * (now - from);
  if (!settings_->electricity_price.empty())
    cost[U(gpu)] += draw * (settings_->PriceIntegral(now) - settings_->PriceIntegral(from)) / 3.6e6;
  since[U(gpu)] = now;
}

void PowerState::Await(SimCore& core, int gpu) {
  if (!settings_->heat) return;
  const bool rising = throttled[U(gpu)] == 0;
  const double limit = rising ? settings_->throttle_c : settings_->throttle_c - settings_->hysteresis_c;
  const double time = HeatOf(*settings_, *this, gpu).Crossing(limit, rising);
  const std::uint32_t version = ++timer[U(gpu)];
  if (time != kNever) core.SetTimer({std::max(time, core.now()), kHeat, gpu, version});
}

bool PowerState::OnTimer(SimCore& core, const Timer& fired) {
  const int gpu = fired.index;
  if (fired.version != timer[U(gpu)]) return false;
  Accrue(core.now(), gpu);
  const double t = temperature_c[U(gpu)];
  const bool was_throttled = throttled[U(gpu)] != 0;
  const bool there = was_throttled ? t <= settings_->throttle_c - settings_->hysteresis_c + kThereC
                                   : t >= settings_->throttle_c - kThereC;
  if (there) {
    throttled[U(gpu)] = was_throttled ? 0 : 1;
    throttles[U(gpu)] += was_throttled ? 0 : 1;
    Mark(node[U(gpu)]);
  }
  Await(core, gpu);
  return there;
}

bool PowerState::Allows(const SimCore& core, const Control& control) const {
  const Scenario& scenario = core.scenario();
  if (control.kind == kClockControl) {
    const double levels = static_cast<double>(dynamic_share.size());
    return control.index >= 0 && control.index < scenario.num_gpus() && control.value >= 0.0 &&
           control.value < levels && control.value == std::floor(control.value);
  }
  if (control.kind != kPowerCapControl || control.index < -1 || control.index >= scenario.num_nodes())
    return false;
  const bool all = control.index == -1;
  double idle = 0.0;
  const int begin = all ? 0 : first_gpu[U(control.index)];
  const int end = all ? gpus->count() : first_gpu[U(control.index) + 1];
  for (int gpu = begin; gpu < end; ++gpu) idle += idle_w[type[U(gpu)]];
  return control.value > idle;
}

bool PowerState::CarryOut(SimCore& core, const Control& control) {
  if (control.kind == kClockControl) {  // of a slice: its GPU's
    const auto wanted = static_cast<std::uint8_t>(control.value);
    const int gpu = GpuOf(control.index);
    if (asked[U(gpu)] == wanted) return true;
    asked[U(gpu)] = wanted;
    Mark(node[U(gpu)]);
    return true;
  }
  if (control.kind != kPowerCapControl) return false;
  if (control.index >= 0) {
    node_cap_w[U(control.index)] = control.value;
    Mark(control.index);
  } else {
    cap_w = control.value;
    for (int n = 0; n < core.scenario().num_nodes(); ++n) Mark(n);
  }
  return true;
}

double PowerState::ClockSpeed(int device) const {
  const int gpu = GpuOf(device);
  const std::vector<double>& speeds = settings_->speeds.empty() ? settings_->clocks : settings_->speeds;
  return speeds[level[U(gpu)]] * duty[U(gpu)];
}

double PowerState::GpuFactor(const Scenario& scenario, const SimState& s, int job, bool full_clocks) const {
  if (full_clocks) return 1.0;
  const auto job_type = U(scenario.data().jobs.job_type[U(job)]);
  const std::size_t levels = dynamic_share.size();
  double slowest = 1.0;
  for (int d : s.Devices(job)) {
    const int gpu = GpuOf(d);
    slowest = std::min(slowest, speed[job_type * levels + level[U(gpu)]] * duty[U(gpu)]);
  }
  return slowest;
}

std::optional<double> PowerState::EnergyJ(double now) const {
  return berth::EnergyJ(*this, now);
}

std::optional<double> PowerState::EnergyCost(double now) const {
  if (settings_->electricity_price.empty()) return {};
  return ElectricityCost(*settings_, *this, now);
}

void PowerState::Measure(const SimCore& core, std::span<double> figures) const {
  figures[0] = EnergyCost(core.now()).value_or(0.0);
}

std::optional<double> PowerState::HottestC(double now) const {
  if (!settings_->heat) return {};
  double hottest = -kNever;
  for (int gpu = 0; gpu < gpus->count(); ++gpu)
    hottest = std::max(hottest, TemperatureC(*settings_, *this, gpu, now));
  return hottest;
}

double PowerState::PowerShare(int device) const {
  const auto gpu = U(GpuOf(device));
  const double peak = peak_w[type[gpu]];
  return peak > 0.0 ? watts[gpu] / peak : 0.0;
}

double PowerState::DegreesC(int device, double now) const {
  return settings_->heat ? TemperatureC(*settings_, *this, GpuOf(device), now) : 0.0;
}

}  // namespace berth
