// What DQN computes with its network: scores while acting, and the gradient of the temporal-difference loss.
// Two implementations give the same numbers to rounding: LibTorch's autograd for every network and device,
// and the written-out passes of agents/nn/fused/, which at small minibatches take a fraction of the time.
// Thread rule: one thread at a time.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <span>
#include <string>

#include "agents/learner/agent.hpp"
#include "agents/nn/fused/td_batch.hpp"
#include "env/base/check.hpp"

namespace berth {

class QLearner {
 public:
  virtual ~QLearner() = default;
  // Rows [D], of a network with a memory [D + M], to scores [rows, A] of the online network: Q (the mean of
  // the quantiles), or with dueling heads what differs from Q by one number a row, which no choice needs.
  virtual void Scores(std::span<const float* const> rows, std::span<float> scores) = 0;
  // And the value head's values [rows].
  virtual void ScoresAndValues(std::span<const float* const> rows, std::span<float> scores,
                               std::span<float> values) = 0;
  // Scores, and what a memory is at the point after each row's [rows, M]. BERTH_CHECK: the network has one
  // that the learner takes.
  virtual void ScoresAndNext(std::span<const float* const> rows, std::span<float> scores,
                             std::span<float> next) {
    BERTH_CHECK(next.empty(), "a memory");
    Scores(rows, scores);
  }
  // Has a row's scores the same bits whatever rows stand beside it? LibTorch's products depend on how many.
  virtual bool RowsApart() const { return false; }
  // The weighted mean of Huber's loss of Q(observation, action) against the goals, or with quantiles of the
  // quantile Huber loss (dqn_loss.hpp); its gradient is in gradient() until the next call, Q - goal in
  // `error` [B].
  virtual TdFigures Gradient(const TdBatch& batch, std::span<float> error) = 0;
  // [P] in the order and on the device of the flat parameters (flat_parameters.hpp).
  virtual const torch::Tensor& gradient() const = 0;
  // Is gradient() clipped to the options' norm already?
  virtual bool Clips() const { return false; }
  virtual std::string Place() const { return "on the host"; }
  // The parameters were changed.
  virtual void OnlineChanged() {}
  virtual void TargetChanged() {}
  virtual double multiply_adds() const { return 0.0; }  // of all passes so far; 0 = not counted
};

// `online` and `target` must outlive it; with quantiles they have as many outputs an action.
std::unique_ptr<QLearner> MakeAutogradQ(const AgentSetup& setup, Network& online, Network& target,
                                        const TdOptions& options);
// Null where there is none: quantiles, a network without written-out passes, another device than the CPU.
std::unique_ptr<QLearner> MakeFusedQ(const AgentSetup& setup, Network& online, Network& target,
                                     const TdOptions& options);

}  // namespace berth
