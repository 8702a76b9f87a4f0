#include "env/gym/vec_env.hpp"

#include "env/gym/batched_envs.hpp"
#include "env/gym/sched_env.hpp"

namespace berth {

StepStorage::StepStorage(int num_envs, int observation_size, int num_actions)
    : observation(U(num_envs) * U(observation_size)),
      reward(U(num_envs)),
      signal(U(num_envs)),
      discount(U(num_envs)),
      final_observation(U(num_envs) * U(observation_size)),
      action_mask(U(num_envs) * U(num_actions)),
      terminated(U(num_envs)),
      truncated(U(num_envs)),
      final_mask(U(num_envs) * U(num_actions)) {}

StepBuffers StepStorage::buffers() {
  return {observation,       action_mask, reward, terminated, truncated, discount,
          final_observation, final_mask,  {},     signal,     {},        {}};
}

void CheckEpisodes(int num_envs, int threads, int episode_jobs, double tau_s) {
  if (num_envs < 1) throw Error(Join("envs: expected at least 1, found ", num_envs));
  if (threads < 1) throw Error(Join("threads: expected at least 1, found ", threads));
  if (episode_jobs < 1) throw Error(Join("episode jobs: expected at least 1, found ", episode_jobs));
  if (!(tau_s > 0.0)) throw Error(Join("tau: expected seconds > 0, found ", tau_s));
}

std::unique_ptr<VecEnv> MakeVecEnv(std::shared_ptr<const ScenarioSource> source,
                                   const SchedEnvOptions& options, int num_envs, int threads) {
  CheckEpisodes(num_envs, threads, options.episode_jobs, options.mdp.tau_s);
  if (options.mdp.visible < 1) throw Error(Join("visible: expected at least 1, found ", options.mdp.visible));
  return std::make_unique<BatchedEnvs<SchedEnv>>(
      num_envs, threads, [&](std::uint32_t i) { return SchedEnv(source, options, i); }, options.first_env,
      options.all_envs);
}

std::vector<std::uint8_t> JoinEnvStates(std::span<const std::vector<std::uint8_t>> parts) {
  std::uint32_t envs = 0;
  std::vector<std::uint8_t> entries;
  for (std::span<const std::uint8_t> part : parts) {
    envs += internal::Take<std::uint32_t>(part);
    entries.insert(entries.end(), part.begin(), part.end());
  }
  std::vector<std::uint8_t> bytes;
  internal::Append(bytes, envs);
  bytes.insert(bytes.end(), entries.begin(), entries.end());
  return bytes;
}

}  // namespace berth
