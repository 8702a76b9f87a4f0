// How power, levels and heat follow what runs (power.hpp).
#include <algorithm>
#include <cmath>

#include "env/features/electricity.hpp"
#include "env/features/heat.hpp"
#include "env/features/power.hpp"
#include "env/features/sharing.hpp"
#include "env/index.hpp"
#include "env/simulator.hpp"

namespace berth {
void PowerEngine::Start(Simulator& sim) {
  const Scenario& scenario = sim.scenario();
  const ScenarioData& data = scenario.data();
  const PowerSettings& settings = *data.features.power;
  const auto gpus = U(scenario.num_gpus()), nodes = U(scenario.num_nodes());
  PowerState p;
  for (const GpuType& type : data.cluster.types) {
    p.idle_w.push_back(type.idle_power_w);
    p.peak_w.push_back(type.peak_power_w);
  }
  for (int d = 0; d < scenario.num_gpus(); ++d) {
    p.type.push_back(static_cast<std::uint8_t>(scenario.TypeOfDevice(d)));
    p.node.push_back(scenario.NodeOf(d));
    while (p.first_device.size() <= U(p.node.back())) {
      p.first_device.push_back(d);
      p.node_cap_w.push_back(settings.NodeCap(p.type.back()));
    }
  }
  p.first_device.push_back(scenario.num_gpus());
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
  p.throttled.assign(gpus, 0);
  p.throttles.assign(gpus, 0);
  p.timer.assign(gpus, 0);
  p.dirty.assign(nodes, 0);
  p.cap_w = settings.cap_w > 0.0 ? settings.cap_w : kNever;
  for (int d = 0; d < scenario.num_gpus(); ++d) {
    p.watts[U(d)] = WattsAt(p, d, top, 1.0);
    const HeatPath path = HeatOf(settings, p, d);
    p.temperature_c[U(d)] = path.around.At(0.0) + path.rise_c;
  }
  sim.state_.power = Owned<PowerState>::Make(std::move(p));
  for (int d = 0; d < scenario.num_gpus(); ++d) Await(sim, d);
}

void PowerEngine::Mark(PowerState& p, int node) {
  if (p.dirty[U(node)] != 0) return;
  p.dirty[U(node)] = 1;
  p.dirty_nodes.push_back(node);
}

void PowerEngine::AddLoad(Simulator& sim, int job, int sign) {
  const ScenarioData& data = sim.scenario().data();
  PowerState& p = *sim.state_.power;
  const std::int64_t load = LoadOf(data, job);
  for (int d : sim.state_.Devices(job)) {
    p.load[U(d)] += sign * load;
    Mark(p, p.node[U(d)]);
  }
}

void PowerEngine::OnStart(Simulator& sim, int job) {
  AddLoad(sim, job, 1);
}

void PowerEngine::OnEnd(Simulator& sim, int job) {
  AddLoad(sim, job, -1);
}

// The levels and duties that the GPUs of a node would have but for the cluster's cap.
void PowerEngine::Propose(Simulator& sim, int node) {
  PowerState& p = *sim.state_.power;
  const int limit = sim.scenario().data().features.power->throttle_level;
  const int begin = p.first_device[U(node)], end = p.first_device[U(node) + 1];
  for (int d = begin; d < end; ++d) {
    const int asked = p.asked[U(d)];
    p.next_level[U(d)] = static_cast<std::uint8_t>(p.throttled[U(d)] != 0 ? std::min(asked, limit) : asked);
    p.next_duty[U(d)] = 1.0;
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
  if (capped) HoldCap(*sim.scenario().data().features.power, p, 0, sim.scenario().num_gpus(), p.cap_w);
  for (int node : p.dirty_nodes) {
    for (int d = p.first_device[U(node)]; d < p.first_device[U(node) + 1]; ++d) Adopt(sim, d);
    p.dirty[U(node)] = 0;
  }
  for (int node : p.dirty_nodes) {  // who runs there has a new pace perhaps
    for (int d = p.first_device[U(node)]; d < p.first_device[U(node) + 1]; ++d) {
      for (int one : HoldersOf(s, d)) {
        if (s.phase[U(one)] == JobPhase::kRunning) sim.Rerate(one);
      }
    }
  }
  p.dirty_nodes.clear();
}

void PowerEngine::Adopt(Simulator& sim, int device) {
  PowerState& p = *sim.state_.power;
  const int level = p.next_level[U(device)];
  const double duty = p.next_duty[U(device)];
  const double watts = WattsAt(p, device, level, duty);
  p.level[U(device)] = static_cast<std::uint8_t>(level);
  p.duty[U(device)] = duty;
  if (watts == p.watts[U(device)]) return;
  Accrue(sim, device);
  p.watts[U(device)] = watts;
  Await(sim, device);
}

// Brings energy, cost and temperature up to now.
void PowerEngine::Accrue(Simulator& sim, int device) {
  PowerState& p = *sim.state_.power;
  const double now = sim.now();
  const PowerSettings& settings = *sim.scenario().data().features.power;
  p.temperature_c[U(device)] = HeatOf(settings, p, device).At(now);
  const double watts = p.watts[U(device)], since = p.since[U(device)];
  p.joules[U(device)] += watts * (now - since);
  const std::vector<double>& hours = settings.electricity_price;
  if (!hours.empty())
    p.cost[U(device)] += watts * (PriceIntegral(hours, now) - PriceIntegral(hours, since)) / 3.6e6;
  p.since[U(device)] = now;
}

void PowerEngine::Await(Simulator& sim, int device) {
  const PowerSettings& settings = *sim.scenario().data().features.power;
  if (!settings.heat) return;
  PowerState& p = *sim.state_.power;
  const bool rising = p.throttled[U(device)] == 0;
  const double limit = rising ? settings.throttle_c : settings.throttle_c - settings.hysteresis_c;
  const double time = HeatOf(settings, p, device).Crossing(limit, rising);
  const std::uint32_t version = ++p.timer[U(device)];
  if (time != kNever) sim.timers_.Push({std::max(time, sim.now()), TimerKind::kHeat, device, version});
}

bool PowerEngine::OnTimer(Simulator& sim, const Timer& timer) {
  PowerState& p = *sim.state_.power;
  const int d = timer.index;
  if (timer.version != p.timer[U(d)]) return false;
  const PowerSettings& settings = *sim.scenario().data().features.power;
  Accrue(sim, d);
  const double t = p.temperature_c[U(d)];
  const bool throttled = p.throttled[U(d)] != 0;
  const bool there = throttled ? t <= settings.throttle_c - settings.hysteresis_c + kThereC
                               : t >= settings.throttle_c - kThereC;
  if (there) {
    p.throttled[U(d)] = throttled ? 0 : 1;
    p.throttles[U(d)] += throttled ? 0 : 1;
    Mark(p, p.node[U(d)]);
  }
  Await(sim, d);
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
  const int begin = all ? 0 : p.first_device[U(control.index)];
  const int end = all ? scenario.num_gpus() : p.first_device[U(control.index) + 1];
  for (int d = begin; d < end; ++d) idle += p.idle_w[p.type[U(d)]];
  return control.value > idle;
}

void PowerEngine::CarryOut(Simulator& sim, const Control& control) {
  PowerState& p = *sim.state_.power;
  if (control.kind == ControlKind::kClock) {
    const auto level = static_cast<std::uint8_t>(control.value);
    if (p.asked[U(control.index)] == level) return;
    p.asked[U(control.index)] = level;
    Mark(p, p.node[U(control.index)]);
  } else if (control.index >= 0) {
    p.node_cap_w[U(control.index)] = control.value;
    Mark(p, control.index);
  } else {
    p.cap_w = control.value;
    for (int node = 0; node < sim.scenario().num_nodes(); ++node) Mark(p, node);
  }
}

double PowerEngine::Speed(const Simulator& sim, int job) {
  const PowerState& p = *sim.state_.power;
  const auto type = U(sim.scenario().data().jobs.job_type[U(job)]);
  const std::size_t levels = p.dynamic_share.size();
  double slowest = 1.0;
  for (int d : sim.state_.Devices(job))
    slowest = std::min(slowest, p.speed[type * levels + p.level[U(d)]] * p.duty[U(d)]);
  return slowest;
}

}  // namespace berth
