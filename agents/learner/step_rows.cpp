#include "agents/learner/step_rows.hpp"

#include <algorithm>

#include "env/base/check.hpp"

namespace berth {

StepRows::StepRows(int rows, int envs, int observation_size, int actions, bool pinned)
    : rows_(rows), envs_(envs), observation_size_(observation_size), actions_(actions) {
  const auto floats = torch::TensorOptions().dtype(torch::kFloat32).pinned_memory(pinned);
  const auto bytes = torch::TensorOptions().dtype(torch::kUInt8).pinned_memory(pinned);
  observation_ = torch::empty({rows, envs, observation_size}, floats);
  mask_ = torch::empty({rows, envs, actions}, bytes);
  action_ = torch::zeros({rows, envs}, torch::kInt64);
  reward_ = torch::zeros({rows, envs}, torch::kFloat32);
  new_jobs_ = torch::zeros({rows, envs}, torch::kFloat32);
  new_work_ = torch::zeros({rows, envs}, torch::kFloat32);
  discount_ = torch::zeros({rows, envs}, torch::kFloat32);
  terminated_ = torch::zeros({rows, envs}, torch::kUInt8);
  truncated_ = torch::zeros({rows, envs}, torch::kUInt8);
  final_observation_ = torch::zeros({envs, observation_size}, torch::kFloat32);
}

StepBuffers StepRows::Outcome(int row, int next) {
  const auto n = static_cast<std::size_t>(envs_);
  StepBuffers out = First(next);
  out.reward = Floats(reward_).subspan(Flat(row, 0), n);
  out.signal = out.reward;
  out.new_jobs = Floats(new_jobs_).subspan(Flat(row, 0), n);
  out.new_work = Floats(new_work_).subspan(Flat(row, 0), n);
  out.discount = Floats(discount_).subspan(Flat(row, 0), n);
  out.terminated = Bytes(terminated_).subspan(Flat(row, 0), n);
  out.truncated = Bytes(truncated_).subspan(Flat(row, 0), n);
  out.final_observation = Floats(final_observation_);
  return out;
}

StepBuffers StepRows::First(int row) {
  const auto n = static_cast<std::size_t>(envs_);
  const auto d = static_cast<std::size_t>(observation_size_);
  const auto a = static_cast<std::size_t>(actions_);
  StepBuffers out;
  out.observation = Floats(observation_).subspan(Flat(row, 0) * d, n * d);
  out.action_mask = Bytes(mask_).subspan(Flat(row, 0) * a, n * a);
  return out;
}

void StepRows::CopyMasks(int from, int to) {
  const StepBuffers source = First(from), target = First(to);
  std::copy(source.action_mask.begin(), source.action_mask.end(), target.action_mask.begin());
}

std::span<const float> StepRows::ObservationRow(int row) const {
  const std::size_t size = static_cast<std::size_t>(envs_) * static_cast<std::size_t>(observation_size_);
  return Floats(observation_).subspan(static_cast<std::size_t>(row) * size, size);
}

std::span<const float> StepRows::Observation(int row, int env) const {
  const auto d = static_cast<std::size_t>(observation_size_);
  return Floats(observation_).subspan(Flat(row, env) * d, d);
}

std::span<float> StepRows::Observation(int row, int env) {
  const auto d = static_cast<std::size_t>(observation_size_);
  return Floats(observation_).subspan(Flat(row, env) * d, d);
}

std::span<const std::uint8_t> StepRows::Mask(int row, int env) const {
  const auto a = static_cast<std::size_t>(actions_);
  return Bytes(mask_).subspan(Flat(row, env) * a, a);
}

std::span<const float> StepRows::Observation(std::int64_t k) const {
  const auto d = static_cast<std::size_t>(observation_size_);
  return Floats(observation_).subspan(static_cast<std::size_t>(k) * d, d);
}

std::span<const std::uint8_t> StepRows::Mask(std::int64_t k) const {
  const auto a = static_cast<std::size_t>(actions_);
  return Bytes(mask_).subspan(static_cast<std::size_t>(k) * a, a);
}

std::span<const float> StepRows::FinalObservation(int env) const {
  const auto d = static_cast<std::size_t>(observation_size_);
  return Floats(final_observation_).subspan(static_cast<std::size_t>(env) * d, d);
}

}  // namespace berth
