#include "tools/bench/env_work.hpp"

#include <cstring>

#include "data/workloads.hpp"
#include "env/gym/vec_env.hpp"
#include "tools/results.hpp"

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

RandomActor::RandomActor(BatchEnv& env)
    : env_(env),
      storage_(env.num_envs(), env.layout().size(), env.num_actions()),
      actions_(static_cast<std::size_t>(env.num_envs())),
      stream_(/*seed=*/0, Purpose::kTest) {
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

}  // namespace berth::bench
