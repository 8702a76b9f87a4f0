#include "agents/tasks/synthetic_task.hpp"

#include <algorithm>
#include <cstring>

#include "env/base/check.hpp"

namespace berth {

SyntheticTask::SyntheticTask(int num_envs, double gamma, std::uint64_t seed)
    : gamma_(static_cast<float>(gamma)),
      seed_(seed),
      envs_(static_cast<std::size_t>(num_envs)),
      ended_(num_envs) {
  for (std::size_t i = 0; i < envs_.size(); ++i) {
    envs_[i] = {};
    streams_.emplace_back(seed, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(i), 0);
  }
}

void SyntheticTask::Refill(std::size_t i, std::size_t slot) {
  Env& env = envs_[i];
  const double duration = streams_[i].Uniform(0.05, 1.0);
  env.width[slot] = static_cast<std::uint8_t>(1U << streams_[i].Below(4));
  env.row[slot] = static_cast<float>(duration);
  env.row[kSlots + slot] = static_cast<float>(env.width[slot]) * 0.125F;
}

void SyntheticTask::Begin(std::size_t i) {
  Env& env = envs_[i];
  for (std::size_t slot = 0; slot < kSlots; ++slot) Refill(i, slot);
  env.now = env.episode_return = 0.0;
  env.running = env.step = 0;
  env.free = kGpus;
  env.row[2 * kSlots] = env.row[2 * kSlots + 1] = 1.0F;
}

void SyntheticTask::Reset(const StepBuffers& out) {
  for (std::size_t i = 0; i < envs_.size(); ++i) {
    envs_[i].episode = 0;
    streams_[i] = Stream(seed_, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(i), 0);
    Begin(i);
  }
  Write(0, num_envs(), out);
}

void SyntheticTask::Write(int begin, int end, const StepBuffers& out) const {
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    const Env& env = envs_[i];
    std::copy(env.row.begin(), env.row.end(), out.observation.data() + i * env.row.size());
    Legal(env, out.action_mask.data() + i * (kSlots + 1));
  }
}

void SyntheticTask::Legal(const Env& env, std::uint8_t* mask) {
  const auto free = static_cast<std::uint8_t>(env.free);
  for (std::size_t slot = 0; slot < kSlots; ++slot) mask[slot] = env.width[slot] <= free;
  mask[kSlots] = env.running > 0;
}

void SyntheticTask::StepRange(int begin, int end, std::span<const std::int32_t> actions,
                              const StepBuffers& out) {
  for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
    Env& env = envs_[i];
    const auto action = static_cast<std::size_t>(actions[i]);
    double reward = 0.0;
    if (action < kSlots) {
      const std::uint8_t width = env.width[action];
      BERTH_CHECK(width <= env.free, "illegal action ", action);
      env.free -= width;
      env.end[static_cast<std::size_t>(env.running)] = env.now + env.row[action];
      env.held[static_cast<std::size_t>(env.running++)] = width;
      Refill(i, action);
    } else {
      BERTH_CHECK(env.running > 0, "illegal wait");
      const auto running = static_cast<std::size_t>(env.running);
      const auto first = static_cast<std::size_t>(
          std::min_element(env.end.begin(), env.end.begin() + env.running) - env.end.begin());
      reward = -(env.end[first] - env.now) * env.free / kGpus;
      env.now = env.end[first];
      env.free += env.held[first];
      env.end[first] = env.end[running - 1];
      env.held[first] = env.held[running - 1];
      --env.running;
    }
    ++env.step;
    env.row[2 * kSlots] = static_cast<float>(env.free) / kGpus;
    env.row[2 * kSlots + 1] = static_cast<float>(kSteps - env.step) / kSteps;
    env.episode_return += reward;
    out.reward[i] = static_cast<float>(reward);
    out.discount[i] = gamma_;
    out.terminated[i] = 0;
    out.truncated[i] = env.step >= kSteps;
    if (!out.truncated[i]) continue;
    std::copy(env.row.begin(), env.row.end(), out.final_observation.data() + i * env.row.size());
    if (!out.final_mask.empty()) Legal(env, out.final_mask.data() + i * (kSlots + 1));
    ended_.Add(i, env.episode_return);
    ++env.episode;
    Begin(i);
  }
  Write(begin, end, out);
}

std::vector<std::uint8_t> SyntheticTask::SaveState() const {
  std::vector<std::uint8_t> bytes(envs_.size() * sizeof(Env));
  for (std::size_t i = 0; i < envs_.size(); ++i) {
    Env env = envs_[i];
    env.drawn = streams_[i].position();
    std::memcpy(bytes.data() + i * sizeof(Env), &env, sizeof(Env));
  }
  return bytes;
}

void SyntheticTask::LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) {
  if (state.size() != envs_.size() * sizeof(Env)) {
    throw Error(Join("SyntheticTask: expected a state of ", envs_.size() * sizeof(Env), " bytes, found ",
                     state.size()));
  }
  std::memcpy(envs_.data(), state.data(), state.size());
  for (std::size_t i = 0; i < envs_.size(); ++i) streams_[i].Seek(envs_[i].drawn);
  Write(0, num_envs(), out);
}

}  // namespace berth
