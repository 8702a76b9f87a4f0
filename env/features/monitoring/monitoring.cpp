#include "env/features/monitoring/monitoring.hpp"

#include <algorithm>
#include <array>

#include "env/base/index.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/power/power.hpp"
#include "env/sim/accounts.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

double Hottest(const Simulator& sim) {
  const SimState& s = sim.state();
  if (!s.power || !sim.scenario().data().features.power->heat) return 0.0;
  double hottest = -kNever;
  for (int gpu = 0; gpu < s.power->gpus->count(); ++gpu)
    hottest = std::max(hottest, TemperatureC(*sim.scenario().data().features.power, *s.power, gpu, s.now));
  return hottest;
}

// Jain, Chiu & Hawe 1984 over the jobs here: what each has had of the GPUs that it asks for since it came.
double Fairness(const Simulator& sim) {
  const SimState& s = sim.state();
  const JobTable& jobs = sim.scenario().data().jobs;
  double sum = 0.0, squares = 0.0, count = 0.0;
  for (int job : s.active) {
    const double age = s.now - jobs.arrival[U(job)];
    if (age <= 0.0) continue;
    const double share = s.AttainedGpuSeconds(job) / (jobs.gang[U(job)] * age);
    sum += share, squares += share * share, count += 1.0;
  }
  return squares > 0.0 ? sum * sum / (count * squares) : 1.0;
}

}  // namespace

std::span<const Field<MonitoringSettings>> MonitoringSettings::Fields() {
  using S = MonitoringSettings;
  static const std::array kFields = {
      Field<S>{"interval_s", &S::interval_s, "s between samples", 1.0, 1e7},
  };
  return kFields;
}

void MonitoringSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("monitoring", scenario.clock);
}

double MonitoringState::MeanUtilization(int back) const {
  const std::size_t row = U((samples() - 1 - back) * types);
  double busy = 0.0, all = 0.0;
  for (std::size_t g = 0; g < U(types); ++g) {
    busy += utilization[row + g] * held[g];
    all += capacity[g];
  }
  return busy / all;
}

void MonitoringEngine::Start(Simulator& sim) {
  MonitoringState m;
  m.types = sim.scenario().num_types();
  for (int g = 0; g < m.types; ++g) {
    const DeviceWeight weight = WeightOf(sim.scenario().data(), g);
    const double count = sim.scenario().data().cluster.types[U(g)].count;
    m.held.push_back(count * weight.busy);
    m.capacity.push_back(count * weight.capacity);
  }
  m.busy_s.assign(U(m.types), 0.0);
  sim.state_.monitoring = Owned<MonitoringState>::Make(std::move(m));
  sim.timers_.Push({sim.scenario().data().features.monitoring->interval_s, TimerKind::kMonitor, 0});
}

bool MonitoringEngine::OnTimer(Simulator& sim) {
  const double interval = sim.scenario().data().features.monitoring->interval_s;
  const ScenarioData& data = sim.scenario().data();
  const SimState& s = sim.state_;
  MonitoringState& m = *sim.state_.monitoring;
  const double since = m.time.empty() ? 0.0 : m.time.back();
  m.time.push_back(s.now);
  for (int g = 0; g < m.types; ++g) {
    const double busy = HeldSeconds(sim, g);
    const double all = data.cluster.types[U(g)].count * (s.now - since);
    m.utilization.push_back((busy - m.busy_s[U(g)]) / all);
    m.busy_s[U(g)] = busy;
    m.memory_gb.push_back(0.0);
  }
  double* memory = m.memory_gb.data() + m.memory_gb.size() - U(m.types);
  double running = 0.0, waiting_gpus = 0.0;
  for (int job : s.running) {
    if (s.phase[U(job)] != JobPhase::kRunning) continue;  // it ended within the round
    running += 1.0;
    if (!data.traits.memory_gb.empty())
      memory[s.on_type[U(job)]] += data.traits.memory_gb[U(data.jobs.job_type[U(job)])];
  }
  for (int job : s.waiting) waiting_gpus += data.jobs.gang[U(job)];
  const double joules = UsedEnergyJ(sim);
  m.watts.push_back((joules - m.joules) / (s.now - since));
  m.joules = joules;
  m.temperature_c.push_back(Hottest(sim));
  m.waiting.push_back(s.waiting.size());
  m.waiting_gpus.push_back(waiting_gpus);
  m.running.push_back(running);
  m.fairness.push_back(Fairness(sim));
  // Counted from the start: no drift.
  sim.timers_.Push({interval * (m.samples() + 1), TimerKind::kMonitor, 0});
  return false;
}

}  // namespace berth
