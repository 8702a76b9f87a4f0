// What environments say of the episodes that ended: an episode in which no job completed has a return, and no
// mean completion time.
#include "data/workloads.hpp"
#include "env/gym/sched_env.hpp"
#include "env/gym/vec_env.hpp"
#include "tests/catch.hpp"

namespace berth {

TEST_CASE("episode stats: an episode in which no job completed counts in no mean JCT") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=4");
  settings.clock = {ClockKind::kEvent};
  // In turn: jobs of a day that come within minutes, and jobs of a second an hour apart.
  const auto source = MakeWorkload("mix(of=toy(rate=60,size=100000);toy(rate=1,size=1))", settings);
  SchedEnvOptions options;
  options.warmup_jobs = 0;
  options.episode_jobs = 3;
  SchedEnv alone(source, options, 0);
  alone.Begin(0);
  const auto env = MakeVecEnv(source, options, 1, 1);
  StepStorage storage(1, env->layout().size(), env->num_actions());
  env->Reset(storage.buffers());
  double returns = 0.0, metric = 0.0;
  for (std::uint32_t episode = 0; episode < 2;) {
    std::int32_t action = 0;
    while (alone.mask()[static_cast<std::size_t>(action)] == 0) ++action;
    const SchedEnv::Outcome outcome = alone.Step(action);
    env->Step({&action, 1}, storage.buffers());
    if (!outcome.terminated && !outcome.truncated) continue;
    CHECK((alone.MeanJct() > 0.0) == (episode == 1));
    returns += alone.episode_return();
    metric += alone.MeanJct();
    alone.Begin(++episode);
  }
  const auto loaded = MakeVecEnv(source, options, 1, 1);
  loaded->LoadState(env->SaveState(), storage.buffers());
  for (VecEnv* one : {env.get(), loaded.get()}) {
    const EpisodeStats stats = one->TakeStats();
    CHECK(stats.episodes == 2);
    CHECK(stats.return_sum == returns);
    CHECK(stats.measured == 1);
    CHECK(stats.metric_sum == metric);
  }
}

}  // namespace berth
