// How power, levels and heat follow what runs (power.hpp).
#include <algorithm>
#include <cmath>
#include <utility>

#include "env/base/index.hpp"
#include "env/features/power/electricity.hpp"
#include "env/features/power/heat.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
void PowerEngine::Start(Simulator& sim) {
  const Scenario& scenario = sim.scenario();
  const ScenarioData& data = scenario.data();
  const PowerSettings& settings = *data.features.power;
  PowerState p;
  p.gpus = std::make_shared<const PhysicalGpus>(MakePhysicalGpus(data));
  const auto gpus = U(p.gpus->count()), nodes = U(scenario.num_nodes());
  for (const GpuType& type : data.cluster.types) {
    p.idle_w.push_back(type.idle_power_w);
    p.peak_w.push_back(type.peak_power_w);
  }
  int kinds = 0;
  for (int g = 0; g < scenario.num_types(); ++g)
    p.kind.push_back(p.gpus->parts[U(g)].whole == g ? kinds++ : -1);
  for (int gpu = 0; gpu < p.gpus->count(); ++gpu) {
    p.type.push_back(static_cast<std::uint8_t>(p.gpus->type[U(gpu)]));
    p.node.push_back(p.gpus->node[U(gpu)]);
    while (p.first_gpu.size() <= U(p.node.back())) {
      p.first_gpu.push_back(gpu);
      p.node_cap_w.push_back(settings.NodeCap(p.kind[p.type.back()]));
    }
  }
  p.first_gpu.push_back(p.gpus->count());
  for (std::size_t t = 0; t < data.throughputs.job_types.size(); ++t) {
    for (int level = 0; level < settings.levels(); ++level)
      p.speed.push_back(settings.Speed(static_cast<int>(t), level));
  }
  for (int level = 0; level < settings.levels(); ++level)
    p.dynamic_share.push_back(settings.DynamicShare(level));
  const auto top = static_cast<std::uint8_t>(settings.levels() - 1);
  for (auto* levels : {&p.asked, &p.level, &p.next_level}) levels->assign(gpus, top);
  for (auto* shares : {&p.duty, &p.next_duty}) shares->assign(gpus, 1.0);
  for (auto* sums : {&p.joules, &p.cost, &p.since, &p.watts, &p.temperature_c}) sums->assign(gpus, 0.0);
  p.load.assign(gpus, 0);
  p.job_load.assign(U(scenario.num_jobs()), 0);
  p.replica_load.assign(U(scenario.num_gpus()), 0);
  p.throttled.assign(gpus, 0);
  p.throttles.assign(gpus, 0);
  p.timer.assign(gpus, 0);
  p.dirty.assign(nodes, 0);
  p.cap_w = settings.cap_w > 0.0 ? settings.cap_w : kNever;
  const int count = p.gpus->count();
  for (int gpu = 0; gpu < count; ++gpu) {
    p.watts[U(gpu)] = WattsAt(p, gpu, top, 1.0);
    const HeatPath path = HeatOf(settings, p, gpu);
    p.temperature_c[U(gpu)] = path.around.At(0.0) + path.rise_c;
  }
  sim.state_.power = Owned<PowerState>::Make(std::move(p));
  for (int gpu = 0; gpu < count; ++gpu) Await(sim, gpu);
}

void PowerEngine::Mark(PowerState& p, int node) {
  if (p.dirty[U(node)] != 0) return;
  p.dirty[U(node)] = 1;
  p.dirty_nodes.push_back(node);
}

void PowerEngine::SetJobLoad(Simulator& sim, int job, std::int64_t load) {
  PowerState& p = *sim.state_.power;
  const std::int64_t more = load - std::exchange(p.job_load[U(job)], load);
  if (more == 0) return;
  for (int d : sim.state_.Devices(job)) {
    p.load[U(p.GpuOf(d))] += more;
    Mark(p, p.node[U(p.GpuOf(d))]);
  }
}

void PowerEngine::OnRate(Simulator& sim, int job) {
  SetJobLoad(sim, job, LoadOf(sim.scenario(), sim.state_, job));
}

void PowerEngine::OnEnd(Simulator& sim, int job) {
  SetJobLoad(sim, job, 0);
}

void PowerEngine::SetReplicaLoad(Simulator& sim, int device, std::int64_t load) {
  PowerState& p = *sim.state_.power;
  const int gpu = p.GpuOf(device);
  p.load[U(gpu)] += load - std::exchange(p.replica_load[U(device)], load);
  Mark(p, p.node[U(gpu)]);
}

// The levels and duties that the GPUs of a node would have but for the cluster's cap.
void PowerEngine::Propose(Simulator& sim, int node) {
  PowerState& p = *sim.state_.power;
  const int limit = sim.scenario().data().features.power->throttle_level;
  const int begin = p.first_gpu[U(node)], end = p.first_gpu[U(node) + 1];
  for (int gpu = begin; gpu < end; ++gpu) {
    const int asked = p.asked[U(gpu)];
    p.next_level[U(gpu)] =
        static_cast<std::uint8_t>(p.throttled[U(gpu)] != 0 ? std::min(asked, limit) : asked);
    p.next_duty[U(gpu)] = 1.0;
  }
  HoldCap(*sim.scenario().data().features.power, p, begin, end, p.node_cap_w[U(node)]);
}

void PowerEngine::Settle(Simulator& sim) {
  SimState& s = sim.state_;
  PowerState& p = *s.power;
  if (p.dirty_nodes.empty()) return;
  const bool capped = p.cap_w != kNever;
  const int nodes = sim.scenario().num_nodes();
  for (int node = 0; capped && node < nodes; ++node) Mark(p, node);
  std::sort(p.dirty_nodes.begin(), p.dirty_nodes.end());
  for (int node : p.dirty_nodes) Propose(sim, node);
  if (capped) HoldCap(*sim.scenario().data().features.power, p, 0, p.gpus->count(), p.cap_w);
  std::vector<int> changed;  // GPUs with another pace
  for (int node : p.dirty_nodes) {
    for (int gpu = p.first_gpu[U(node)]; gpu < p.first_gpu[U(node) + 1]; ++gpu) {
      if (Adopt(sim, gpu)) changed.push_back(gpu);
    }
    p.dirty[U(node)] = 0;
  }
  p.dirty_nodes.clear();
  for (int gpu : changed) {
    for (int d : p.gpus->Devices(gpu)) {
      for (int one : HoldersOf(s, d)) {
        if (s.phase[U(one)] == JobPhase::kRunning) sim.Rerate(one);
      }
    }
  }
  if (s.services && !changed.empty()) ServiceEngine::OnClocks(sim, changed);
}

bool PowerEngine::Adopt(Simulator& sim, int gpu) {
  PowerState& p = *sim.state_.power;
  const int level = p.next_level[U(gpu)];
  const double duty = p.next_duty[U(gpu)];
  const double watts = WattsAt(p, gpu, level, duty);
  const bool changed = p.level[U(gpu)] != level || p.duty[U(gpu)] != duty;
  p.level[U(gpu)] = static_cast<std::uint8_t>(level);
  p.duty[U(gpu)] = duty;
  if (watts != p.watts[U(gpu)]) {
    Accrue(sim, gpu);
    p.watts[U(gpu)] = watts;
    Await(sim, gpu);
  }
  return changed;
}

// Brings energy, cost and temperature up to now.
void PowerEngine::Accrue(Simulator& sim, int gpu) {
  PowerState& p = *sim.state_.power;
  const double now = sim.now();
  const PowerSettings& settings = *sim.scenario().data().features.power;
  p.temperature_c[U(gpu)] = HeatOf(settings, p, gpu).At(now);
  const double watts = p.watts[U(gpu)], since = p.since[U(gpu)];
  p.joules[U(gpu)] += watts * (now - since);
  const std::vector<double>& hours = settings.electricity_price;
  if (!hours.empty())
    p.cost[U(gpu)] += watts * (PriceIntegral(hours, now) - PriceIntegral(hours, since)) / 3.6e6;
  p.since[U(gpu)] = now;
}

void PowerEngine::Await(Simulator& sim, int gpu) {
  const PowerSettings& settings = *sim.scenario().data().features.power;
  if (!settings.heat) return;
  PowerState& p = *sim.state_.power;
  const bool rising = p.throttled[U(gpu)] == 0;
  const double limit = rising ? settings.throttle_c : settings.throttle_c - settings.hysteresis_c;
  const double time = HeatOf(settings, p, gpu).Crossing(limit, rising);
  const std::uint32_t version = ++p.timer[U(gpu)];
  if (time != kNever) sim.timers_.Push({std::max(time, sim.now()), TimerKind::kHeat, gpu, version});
}

bool PowerEngine::OnTimer(Simulator& sim, const Timer& timer) {
  PowerState& p = *sim.state_.power;
  const int gpu = timer.index;
  if (timer.version != p.timer[U(gpu)]) return false;
  const PowerSettings& settings = *sim.scenario().data().features.power;
  Accrue(sim, gpu);
  const double t = p.temperature_c[U(gpu)];
  const bool throttled = p.throttled[U(gpu)] != 0;
  const bool there = throttled ? t <= settings.throttle_c - settings.hysteresis_c + kThereC
                               : t >= settings.throttle_c - kThereC;
  if (there) {
    p.throttled[U(gpu)] = throttled ? 0 : 1;
    p.throttles[U(gpu)] += throttled ? 0 : 1;
    Mark(p, p.node[U(gpu)]);
  }
  Await(sim, gpu);
  return there;
}

bool PowerEngine::ControlAllowed(const Simulator& sim, const Control& control) {
  const Scenario& scenario = sim.scenario();
  const PowerState& p = *sim.state_.power;
  if (control.kind == ControlKind::kClock) {
    const double levels = static_cast<double>(p.dynamic_share.size());
    return control.index >= 0 && control.index < scenario.num_gpus() && control.value >= 0.0 &&
           control.value < levels && control.value == std::floor(control.value);
  }
  if (control.index < -1 || control.index >= scenario.num_nodes()) return false;
  const bool all = control.index == -1;
  double idle = 0.0;
  const int begin = all ? 0 : p.first_gpu[U(control.index)];
  const int end = all ? p.gpus->count() : p.first_gpu[U(control.index) + 1];
  for (int gpu = begin; gpu < end; ++gpu) idle += p.idle_w[p.type[U(gpu)]];
  return control.value > idle;
}

void PowerEngine::CarryOut(Simulator& sim, const Control& control) {
  PowerState& p = *sim.state_.power;
  if (control.kind == ControlKind::kClock) {  // of a slice: its GPU's
    const auto level = static_cast<std::uint8_t>(control.value);
    const int gpu = p.GpuOf(control.index);
    if (p.asked[U(gpu)] == level) return;
    p.asked[U(gpu)] = level;
    Mark(p, p.node[U(gpu)]);
  } else if (control.index >= 0) {
    p.node_cap_w[U(control.index)] = control.value;
    Mark(p, control.index);
  } else {
    p.cap_w = control.value;
    for (int node = 0; node < sim.scenario().num_nodes(); ++node) Mark(p, node);
  }
}

double PowerEngine::ClockSpeed(const PowerSettings& settings, const PowerState& p, int device) {
  const int gpu = p.GpuOf(device);
  const std::vector<double>& speeds = settings.speeds.empty() ? settings.clocks : settings.speeds;
  return speeds[p.level[U(gpu)]] * p.duty[U(gpu)];
}

double PowerEngine::Speed(const Scenario& scenario, const SimState& s, int job) {
  const PowerState& p = *s.power;
  const auto type = U(scenario.data().jobs.job_type[U(job)]);
  const std::size_t levels = p.dynamic_share.size();
  double slowest = 1.0;
  for (int d : s.Devices(job)) {
    const int gpu = p.GpuOf(d);
    slowest = std::min(slowest, p.speed[type * levels + p.level[U(gpu)]] * p.duty[U(gpu)]);
  }
  return slowest;
}

}  // namespace berth
