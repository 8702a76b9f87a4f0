#include "tools/bench/work.hpp"

#include <cstring>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/policy_source.hpp"
#include "data/workloads.hpp"
#include "env/gym/vec_env.hpp"
#include "env/sim/simulator.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"

namespace berth::bench {

std::unique_ptr<BatchEnv> DefaultEnv(int num_envs, int threads) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kDefaultCluster);
  settings.clock = {ClockKind::kRounds, 360.0};
  SchedEnvOptions options;
  options.mdp.visible = 32;
  options.warmup = [] { return MakeScheduler("srpt", AllSchedulers()); };
  return MakeVecEnv(MakeWorkload(kDefaultWorkload, settings), options, num_envs, threads);
}

RandomActor::RandomActor(BatchEnv& env, std::uint64_t seed)
    : env_(env),
      storage_(env.num_envs(), env.layout().size(), env.num_actions()),
      actions_(static_cast<std::size_t>(env.num_envs())),
      stream_(seed, Purpose::kTest) {
  env_.Reset(storage_.buffers());
}

std::int64_t RandomActor::Step(int times) {
  const auto width = static_cast<std::size_t>(env_.num_actions());
  for (int i = 0; i < times; ++i) {
    for (std::size_t n = 0; n < actions_.size(); ++n) {
      const std::uint8_t* mask = storage_.action_mask.data() + n * width;
      const std::size_t from = (static_cast<std::uint64_t>(stream_.Bits()) * width) >> 32;
      const void* found = std::memchr(mask + from, 1, width - from);
      if (found == nullptr) found = std::memchr(mask, 1, from);
      actions_[n] = static_cast<std::int32_t>(static_cast<const std::uint8_t*>(found) - mask);
    }
    env_.Step(actions_, storage_.buffers());
  }
  return static_cast<std::int64_t>(times) * env_.num_envs();
}

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

namespace {

template <class Source>
double TimeOf(Source source, const ClusterView& view) {
  source.Reset(view);
  gavel::Allocation x;
  const double begin = CpuSeconds();
  source.Allocate(view, view.active(), x);
  const double seconds = CpuSeconds() - begin;
  if (source.fall_backs() > 0) throw Error("the policy found no answer");
  return seconds;
}

}  // namespace

Scenario SolveInstance(int jobs) {
  const int gpus = jobs / 4;
  return Generated(Join("synthetic(rate=0,jobs=", jobs, ")"),
                   Join("v100=", gpus, ",p100=", gpus, ",k80=", gpus), {});
}

std::vector<double> SolveTimes(const gavel::ObjectiveInfo& objective, bool packed, const Scenario& scenario,
                               int repeats) {
  Simulator simulator(scenario);
  if (!simulator.AdvanceToDecision()) throw Error("the workload has no decision");
  const ClusterView view = simulator.View(Knowledge::kOracle);
  std::vector<double> seconds;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Params params(Spec{}, objective.params);
    if (packed) {
      seconds.push_back(TimeOf(
          gavel::PackedAllocations("bench", objective.fall_back, objective.make_packed({}, params)), view));
    } else {
      seconds.push_back(
          TimeOf(gavel::PolicyAllocations("bench", objective.fall_back, objective.make({}, params)), view));
    }
  }
  return seconds;
}

std::vector<double> SolveMaxMin(const Scenario& scenario, int repeats) {
  return SolveTimes(gavel::MaxMinObjective(), /*packed=*/false, scenario, repeats);
}

}  // namespace berth::bench
