// Environments: decisions per CPU-second on one thread, with the whole observation and mask written.
#include <filesystem>

#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/vec_env.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"

namespace berth::bench {
namespace {

constexpr int kTrainEnvs = 16;  // as `berth train`

Json EnvDetail(BatchEnv& env) {
  return {{"envs", env.num_envs()},
          {"observation_floats", env.layout().size()},
          {"actions", env.num_actions()},
          {"episodes", env.TakeStats().episodes}};
}

Measured StepsOf(BatchEnv& env, const BenchSetup& setup) {
  RandomActor actor(env);
  Measured measured;
  measured.values = RatesPerCpuSecond(setup.seconds, setup.repeats, [&] { return actor.Step(256); });
  measured.detail = EnvDetail(env);
  return measured;
}

Measured Default(const BenchSetup& setup) {
  return StepsOf(*DefaultEnv(kTrainEnvs, /*threads=*/1), setup);
}

// The default process with more to do and to see, over the same without; both measured in turn.
Measured Commands(const BenchSetup& setup) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=12/4,p100=12/4,k80=12/4");
  settings.clock = {ClockKind::kRounds, 360.0};
  settings.features = ParseFeatures("elasticity;topology;failures");
  SchedEnvOptions options;
  options.mdp.visible = 32;
  options.mdp.encoder =
      ResolveEncoder(RichestEncoder(settings.features, options.mdp.semantics, options.mdp.knowledge));
  options.mdp.actions = ActionsOf(settings.features);
  options.warmup = [] { return MakeScheduler("srpt", AllSchedulers()); };
  const auto env = MakeVecEnv(MakeWorkload(kDefaultWorkload, settings), options, kTrainEnvs, /*threads=*/1);
  const auto plain = DefaultEnv(kTrainEnvs, /*threads=*/1);
  RandomActor with(*env), without(*plain);
  Measured measured;
  measured.values = RatiosInTurn(
      setup.seconds, setup.repeats, [&] { return with.Step(256); }, [&] { return without.Step(256); });
  measured.detail = EnvDetail(*env);
  return measured;
}

Measured Commit(const BenchSetup& setup) {
  const std::string log = setup.traces + "/rlscheduler-lublin/lublin_256.swf.gz";
  if (!std::filesystem::exists(log)) throw CannotRun("needs " + log + " (--traces)");
  SchedEnvOptions options;
  options.mdp.semantics = Semantics::kCommit;
  options.mdp.preemptive = false;
  options.mdp.work_conserving = false;
  options.mdp.visible = 128;
  options.mdp.encoder = "RLScheduler(longest_run_s=124707)";  // Lublin-1's longest job
  options.episode_jobs = 256;
  Scenario scenario = WithClock(FindFormat("swf").read(log, {}), {ClockKind::kHpc});
  const auto env = MakeVecEnv(FixedSource(std::move(scenario), log), options, kTrainEnvs, /*threads=*/1);
  return StepsOf(*env, setup);
}

constexpr BenchRow kEnvRows[] = {
    {"env/steps",
     "VecEnv on the default workload, Q=32, G=3, observation and mask written, random legal actions",
     "steps/CPU-s", Bound::kAtLeast, 1e6, 0, Default},
    {"env/command_steps",
     "the same with elasticity;topology;failures, their commands and the richest observation, over env/steps",
     "of env/steps", Bound::kAtLeast, 0.2, 0, Commands},
    {"env/commit_steps",
     "semantics commit on Lublin-1, the published 128 x 8 observation, sequences of 256 jobs, random legal "
     "actions",
     "steps/CPU-s", Bound::kAtLeast, 2e5, 0, Commit},
};

}  // namespace

std::span<const BenchRow> EnvRows() {
  return kEnvRows;
}

}  // namespace berth::bench
