// Steps of N environments as columns, one row a time step: what rollouts and replay buffers are made of. The
// environment writes into them; nothing is allocated after construction.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <vector>

#include "env/gym/batch_env.hpp"

namespace berth {

// Tensors on the host (pinned where the learner is on a GPU).
class StepRows {
 public:
  StepRows(int rows, int envs, int observation_size, int actions, bool pinned);

  // Outcome of the step taken at `row`; what follows is written to `next`.
  StepBuffers Outcome(int row, int next);
  // Only observation and mask of `row`; for Reset.
  StepBuffers First(int row);
  void CopyMasks(int from, int to);

  int rows() const { return rows_; }
  int envs() const { return envs_; }
  int observation_size() const { return observation_size_; }
  int actions() const { return actions_; }

  std::span<const float> ObservationRow(int row) const;        // [N, D]
  std::span<const float> Observation(int row, int env) const;  // [D]
  std::span<float> Observation(int row, int env);
  std::span<const std::uint8_t> Mask(int row, int env) const;  // [A]
  // By k = row * N + env.
  std::span<const float> Observation(std::int64_t k) const;  // [D]
  std::span<const std::uint8_t> Mask(std::int64_t k) const;  // [A]
  std::span<float> reward() { return Floats(reward_); }      // [R, N]
  std::span<const float> new_jobs() const { return Floats(new_jobs_); }
  std::span<const float> new_work() const { return Floats(new_work_); }
  std::span<const float> discount() const { return Floats(discount_); }
  std::span<const std::uint8_t> terminated() const { return Bytes(terminated_); }
  std::span<const std::uint8_t> truncated() const { return Bytes(truncated_); }
  std::span<std::int64_t> action() {
    return {action_.data_ptr<std::int64_t>(), static_cast<std::size_t>(action_.numel())};
  }
  std::span<const float> FinalObservation(int env) const;  // [D] of the last step

  // [R * N, ...]
  torch::Tensor FlatObservations() const { return observation_.flatten(0, 1); }
  torch::Tensor FlatMasks() const { return mask_.flatten(0, 1); }
  torch::Tensor FlatActions() const { return action_.flatten(); }

 private:
  static std::span<float> Floats(const torch::Tensor& t) {
    return {t.data_ptr<float>(), static_cast<std::size_t>(t.numel())};
  }
  static std::span<std::uint8_t> Bytes(const torch::Tensor& t) {
    return {t.data_ptr<std::uint8_t>(), static_cast<std::size_t>(t.numel())};
  }
  std::size_t Flat(int row, int env) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(envs_) + static_cast<std::size_t>(env);
  }

  int rows_, envs_, observation_size_, actions_;
  torch::Tensor observation_, mask_;            // [R, N, D] float, [R, N, A] uint8
  torch::Tensor action_;                        // [R, N] int64
  torch::Tensor reward_, discount_;             // [R, N] float
  torch::Tensor new_jobs_, new_work_;           // [R, N] float
  torch::Tensor terminated_, truncated_;        // [R, N] uint8
  torch::Tensor final_observation_;             // [N, D]
};

}  // namespace berth
