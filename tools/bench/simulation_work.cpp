#include "tools/bench/simulation_work.hpp"

#include "data/workloads.hpp"
#include "tools/bench/measure.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"

namespace berth::bench {

Scenario Generated(const std::string& workload, const std::string& cluster, const Clock& clock) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster);
  settings.clock = clock;
  return EvaluationScenario(*MakeWorkload(workload, settings), /*seed=*/1000);
}

std::vector<SimulationCost> Simulate(const Scenario& scenario, const std::string& scheduler, Window window,
                                     int repeats) {
  std::vector<SimulationCost> costs;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const auto decider = MakeScheduler(scheduler, AllSchedulers());
    RunOptions options;
    options.window = window;
    const double begin = CpuSeconds();
    const RunResult result = Run(scenario, *decider, scheduler, options);
    costs.push_back({CpuSeconds() - begin, result.metrics.mean_jct_s, result.decisions});
  }
  return costs;
}

EvaluationPlan EvaluationRuns(int threads) {
  EvaluationPlan plan;
  plan.schedulers = {"fcfs", "srpt", "las", "sjf"};
  for (int seed = 1000; seed < 1016; ++seed) {
    ScenarioSettings settings;
    settings.cluster = ParseCluster(kDefaultCluster);
    settings.clock = {ClockKind::kRounds, 360.0};
    plan.workloads.push_back(
        EvaluationScenario(*MakeWorkload(kDefaultWorkload, settings), static_cast<std::uint64_t>(seed)));
    plan.seeds.push_back(seed);
  }
  plan.window = {0, plan.workloads[0].num_jobs()};
  plan.threads = threads;
  return plan;
}

}  // namespace berth::bench
