// What DQN computes with its network: scores while acting, and the gradient of the temporal-difference loss.
// Two implementations give the same numbers to rounding: LibTorch's autograd for every network and device,
// and hand-written passes over plain memory for the perceptron (`fused`), which at small minibatches take a
// fraction of the time. Thread rule: one thread at a time.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <span>

#include "agents/agent.hpp"
#include "agents/td_batch.hpp"

namespace berth {

class QLearner {
 public:
  virtual ~QLearner() = default;
  // observation [B, D] to scores [B, A] of the online network: Q, or with dueling heads what differs from Q
  // by one number a row, which no choice needs.
  virtual void Scores(std::span<const float> observation, std::span<float> scores) = 0;
  // How many of the flat parameters, from the first, Q depends on: a critic that no head uses is none of
  // them.
  virtual std::int64_t used() const = 0;
  // The weighted mean Huber loss of Q(observation, action) against the goals; writes its gradient [used], in
  // the order and on the device of the flat parameters, and Q - goal, `error` [B].
  virtual TdFigures Gradient(const TdBatch& batch, torch::Tensor& gradient, std::span<float> error) = 0;
  // The parameters were changed.
  virtual void OnlineChanged() {}
  virtual void TargetChanged() {}
};

// `online` and `target` must outlive it.
std::unique_ptr<QLearner> MakeAutogradQ(const AgentSetup& setup, Network& online, Network& target,
                                        const TdOptions& options);
// Null where there is none: another network than the perceptron, or another device than the CPU. The
// parameters of both networks lie in one row each (flat_parameters.hpp).
std::unique_ptr<QLearner> MakeFusedQ(const AgentSetup& setup, Network& online, Network& target,
                                     const TdOptions& options);

}  // namespace berth
