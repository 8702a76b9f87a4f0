// A rollout on the device: what acting writes there step by step, and what environments give, which is
// gathered on the host and copied once. Shapes: T steps, N environments, D numbers of an observation, A
// actions.
#pragma once

#include "agents/gpu/queue.hpp"
#include "agents/learner/agent.hpp"

namespace berth {

struct DeviceRows {
  DeviceRows(const OnDevice& on, int steps, const AgentSetup& setup);
  // Bytes on the device for each step of all environments.
  static std::int64_t BytesPerStep(const AgentSetup& setup);

  int steps, envs;
  // On the device; written while acting:
  torch::Tensor observation, mask, action;              // [T, N, D] float, [T, N, A] uint8, [T, N] int64
  torch::Tensor log_prob, value, entropy, final_value;  // [T, N]; final_value is meant only where truncated
  torch::Tensor last_value;                             // [N]
  // ... copied:
  torch::Tensor reward, discount, terminated, truncated;  // [T, N] float, float, uint8, uint8
  // ... computed:
  torch::Tensor advantage, returns;  // [T, N]
  // On the host, pinned for a GPU:
  torch::Tensor host_reward, host_discount, host_terminated, host_truncated;
  torch::Tensor host_new_jobs, host_new_work, host_advantage;  // the last: of the device's, by the update

  void Upload();  // the host's columns that returns are made of; a queue must be in use
  cuda::ReturnColumns Columns(double lambda, double lambda_within_instant) const;
};

}  // namespace berth
