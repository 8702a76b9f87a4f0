#include "agents/tasks/synthetic_pairs.hpp"

#include <algorithm>

#include "env/base/check.hpp"

namespace berth {

SyntheticPairs::SyntheticPairs(int num_envs, double gamma, std::uint64_t seed)
    : layout_(ObservationV1::Layout(kQueue, kTypes)),
      gamma_(static_cast<float>(gamma)),
      seed_(seed),
      ended_(num_envs) {
  for (int i = 0; i < num_envs; ++i) {
    envs_.push_back({std::vector<float>(static_cast<std::size_t>(layout_.size())),
                     std::vector<std::uint8_t>(static_cast<std::size_t>(num_actions())),
                     Stream(seed, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(i)), 0.0, 0});
  }
}

// One draw of 32 bits a job: its numbers are made of bits of it, so that the task costs next to nothing.
void SyntheticPairs::Refill(Env& env, int job) const {
  std::uint32_t bits = env.stream.Bits();
  const auto next = [&] {
    bits = bits * 1664525U + 1013904223U;
    return static_cast<float>(bits >> 8) * 0x1p-24F;
  };
  float* row = env.row.data() + layout_.jobs_offset() + job * layout_.job_channels;
  row[0] = 1.0F;  // present
  for (int c = 1; c < layout_.job_channels; ++c) row[c] = next();
  float* pairs = env.row.data() + layout_.pairs_offset() + job * kTypes * layout_.pair_channels;
  for (int t = 0; t < kTypes; ++t, pairs += layout_.pair_channels) {
    const bool can_run = t == 0 || next() < 0.5F;
    pairs[0] = can_run ? 1.0F : 0.0F;
    for (int c = 1; c < layout_.pair_channels; ++c) pairs[c] = can_run ? next() : 0.0F;
    env.mask[static_cast<std::size_t>(job * kTypes + t)] = can_run;
  }
}

void SyntheticPairs::Begin(Env& env) const {
  for (int job = 0; job < kQueue; ++job) Refill(env, job);
  env.mask.back() = 1;
  for (auto k = static_cast<std::size_t>(layout_.types_offset()); k < env.row.size(); ++k) {
    env.row[k] = static_cast<float>(env.stream.Uniform());
  }
  env.episode_return = 0.0;
  env.step = 0;
}

void SyntheticPairs::Reset(const StepBuffers& out) {
  for (std::size_t i = 0; i < envs_.size(); ++i) {
    envs_[i].stream = Stream(seed_, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(i));
    Begin(envs_[i]);
  }
  Write(0, num_envs(), out);
}

void SyntheticPairs::Write(int begin, int end, const StepBuffers& out) const {
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    const Env& env = envs_[i];
    std::copy(env.row.begin(), env.row.end(), out.observation.data() + i * env.row.size());
    std::copy(env.mask.begin(), env.mask.end(), out.action_mask.data() + i * env.mask.size());
  }
}

void SyntheticPairs::StepRange(int begin, int end, std::span<const std::int32_t> actions,
                               const StepBuffers& out) {
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    Env& env = envs_[i];
    const std::int32_t action = actions[i];
    BERTH_CHECK(env.mask[static_cast<std::size_t>(action)] != 0, "illegal action ", action);
    float reward = 0.0F;
    if (action < kQueue * kTypes) {
      reward = env.row[static_cast<std::size_t>(layout_.pairs_offset() + action * layout_.pair_channels + 1)];
      Refill(env, action / kTypes);
    }
    ++env.step;
    env.row.back() = static_cast<float>(env.step) / kSteps;
    env.episode_return += reward;
    out.reward[i] = reward;
    out.discount[i] = gamma_;
    out.terminated[i] = 0;
    out.truncated[i] = env.step >= kSteps;
    if (!out.truncated[i]) continue;
    std::copy(env.row.begin(), env.row.end(), out.final_observation.data() + i * env.row.size());
    ended_.Add(i, env.episode_return);
    Begin(env);
  }
  Write(begin, end, out);
}

std::vector<std::uint8_t> SyntheticPairs::SaveState() const {
  throw Error("the synthetic task of pairs is for measuring: it keeps no state");
}

void SyntheticPairs::LoadState(std::span<const std::uint8_t>, const StepBuffers&) {
  throw Error("the synthetic task of pairs is for measuring: it keeps no state");
}

}  // namespace berth
