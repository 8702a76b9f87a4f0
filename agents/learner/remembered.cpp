#include "agents/learner/remembered.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth {

Remembered::Remembered(int envs, int observation_size, int memory)
    : envs_(U(envs)), size_(U(observation_size)), memory_(U(memory)) {
  if (!any()) return;
  for (std::vector<float>* rows : {&observation_, &final_observation_}) rows->resize(envs_ * size_);
  state_.resize(envs_ * memory_);
}

StepBuffers Remembered::Observed(StepBuffers rows) {
  rows.observation = observation_;
  if (!rows.final_observation.empty()) rows.final_observation = final_observation_;
  return rows;
}

void Remembered::Write(std::span<const float> observation, std::size_t env, std::span<const float> state,
                       std::span<float> rows) const {
  float* row = rows.data() + env * (size_ + memory_);
  row = std::copy_n(observation.data() + env * size_, size_, row);
  std::copy_n(state.data(), memory_, row);
}

void Remembered::Begin(std::span<float> rows) const {
  for (std::size_t i = 0; i < envs_; ++i)
    Write(observation_, i, std::span(state_).subspan(i * memory_, memory_), rows);
}

void Remembered::Follow(int env, std::span<const float> state, std::span<const float> next,
                        const StepBuffers& observed, const StepBuffers& rows) {
  const std::size_t i = U(env);
  const bool ended = observed.terminated[i] != 0 || observed.truncated[i] != 0;
  const std::span<const float> follows = observed.discount[i] == 1.0F ? state : next;
  if (ended && !rows.final_observation.empty()) Write(final_observation_, i, follows, rows.final_observation);
  const std::span<float> own = std::span(state_).subspan(i * memory_, memory_);
  if (ended) {
    std::fill(own.begin(), own.end(), 0.0F);
  } else {
    std::copy(follows.begin(), follows.end(), own.begin());
    if (observed.discount[i] == 1.0F && !observed.fresh.empty() && observed.fresh[i] == 0) return;
  }
  if (!observed.fresh.empty()) observed.fresh[i] = 1;
  Write(observation_, i, own, rows.observation);
}

// Columns are environments, as ranks join them.
void Remembered::Save(h5::Writer* out, const std::string& dataset, const Ranks& ranks) const {
  if (!any()) return;
  std::vector<float> columns(state_.size());  // [M, N]
  for (std::size_t i = 0; i < envs_; ++i) {
    for (std::size_t k = 0; k < memory_; ++k) columns[k * envs_ + i] = state_[i * memory_ + k];
  }
  const std::vector<float> all = ranks.JoinColumns<float>(columns);
  if (out != nullptr) out->Array<float>(dataset, all);
}

void Remembered::Load(const h5::Reader& in, const std::string& dataset, const Ranks& ranks) {
  if (!any()) return;
  const std::size_t all = ranks.many() ? U(ranks.all_envs()) : envs_;
  const std::vector<float> columns =
      ranks.OwnColumns<float>(in.Array<float>(dataset, static_cast<std::int64_t>(all * memory_)));
  for (std::size_t i = 0; i < envs_; ++i) {
    for (std::size_t k = 0; k < memory_; ++k) state_[i * memory_ + k] = columns[k * envs_ + i];
  }
}

}  // namespace berth
