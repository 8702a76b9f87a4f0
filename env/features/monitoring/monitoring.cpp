#include "env/features/monitoring/monitoring.hpp"

#include <algorithm>
#include <array>

#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/accounts.hpp"
#include "env/sim/core.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth {
namespace {

double Hottest(const SimState& s) {
  for (const FeatureState& feature : s.features.Of(Hook::kHottestC)) {
    if (const std::optional<double> hottest = feature.HottestC(s.now)) return *hottest;
  }
  return 0.0;
}

// Jain, Chiu & Hawe 1984 over the jobs here: what each has had of the GPUs that it asks for since it came.
double Fairness(const SimState& s, const JobTable& jobs) {
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

std::unique_ptr<FeatureState> MonitoringSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<MonitoringState>(*this, scenario);
}

MonitoringState::MonitoringState(const MonitoringSettings& settings, const Scenario& scenario)
    : types(scenario.num_types()), settings_(&settings), busy_s_(U(scenario.num_types()), 0.0) {
  for (int g = 0; g < types; ++g) {
    const DeviceWeight weight = WeightOf(scenario.data(), g);
    const double count = scenario.data().cluster.types[U(g)].count;
    held.push_back(count * weight.busy);
    capacity.push_back(count * weight.capacity);
  }
}

void MonitoringState::Start(SimCore& core) {
  core.SetWatch({settings_->interval_s, kMonitor, 0});
}

bool MonitoringState::OnTimer(SimCore& core, const Timer&) {
  const ScenarioData& data = core.scenario().data();
  const SimState& s = core.state();
  const double since = time.empty() ? 0.0 : time.back();
  time.push_back(s.now);
  for (int g = 0; g < types; ++g) {
    const double busy = HeldSeconds(core, g);
    const double all = data.cluster.types[U(g)].count * (s.now - since);
    utilization.push_back((busy - busy_s_[U(g)]) / all);
    busy_s_[U(g)] = busy;
    memory_gb.push_back(0.0);
  }
  double* memory = memory_gb.data() + memory_gb.size() - U(types);
  double jobs = 0.0, gpus = 0.0;
  for (int job : s.running) {
    if (s.phase[U(job)] != JobPhase::kRunning) continue;  // it ended within the round
    jobs += 1.0;
    if (!data.traits.memory_gb.empty())
      memory[s.on_type[U(job)]] += data.traits.memory_gb[U(data.jobs.job_type[U(job)])];
  }
  for (int job : s.waiting) gpus += data.jobs.gang[U(job)];
  const double used = UsedEnergyJ(core);
  watts.push_back((used - joules_) / (s.now - since));
  joules_ = used;
  temperature_c.push_back(Hottest(s));
  waiting.push_back(s.waiting.size());
  waiting_gpus.push_back(gpus);
  running.push_back(jobs);
  fairness.push_back(Fairness(s, data.jobs));
  // Counted from the start: no drift.
  core.SetWatch({settings_->interval_s * (samples() + 1), kMonitor, 0});
  return false;
}

void MonitoringState::EachSeries(const SeriesVisitor& visit) const {
  visit("time", time, 1), visit("utilization", utilization, types);
  visit("memory_gb", memory_gb, types), visit("watts", watts, 1);
  visit("temperature_c", temperature_c, 1), visit("waiting", waiting, 1);
  visit("waiting_gpus", waiting_gpus, 1), visit("running", running, 1);
  visit("fairness", fairness, 1);
}

FeatureModule MonitoringFeature() {
  static constexpr TimerKind kTimers[] = {kMonitor};
  static constexpr BlockInfo (*kBlocks[])() = {MonitoringBlock};
  FeatureModule module = ModuleOf<MonitoringSettings>();
  module.timers = kTimers;
  module.blocks = kBlocks;
  return module;
}

}  // namespace berth
