// The temporal-difference loss of one minibatch on tensors, and its gradient by LibTorch's autograd: what
// AutogradQ computes operation by operation and CapturedQ captures.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "agents/nn/fused/td_batch.hpp"
#include "policies/learn/networks.hpp"

namespace berth {

// As TdBatch, on the networks' device.
struct TdTensors {
  torch::Tensor observation, next_observation;  // [B, D]
  torch::Tensor mask, next_mask;                // [B, A] uint8
  torch::Tensor action;                         // [B] int32
  torch::Tensor reward, discount, weight;       // [B]
  torch::Tensor temperature;                    // [1], where soft
  // Where the batch joins rows: as ForwardSequences takes them. Empty = each row alone.
  std::vector<std::size_t> begin = {};
  std::vector<std::uint8_t> passes = {};
};

struct TdStep {
  torch::Tensor gradient;      // [P] of the weighted mean loss, in the order of online.parameters()
  torch::Tensor error;         // [B] Q - goal
  torch::Tensor loss, mean_q;  // []
};
// With quantiles the networks have as many outputs an action. Reads nothing back from the device.
TdStep StepOf(Network& online, Network& target, const TdTensors& batch, const TdOptions& options);

// [B, A] Q, or what the choice among actions needs of it: the means over outputs of scores [B, A * outputs].
torch::Tensor MeanOutputs(const torch::Tensor& scores, const TdOptions& options);

}  // namespace berth
