// Q values, targets and losses of deep Q-learning (Mnih et al. 2015), and of its distributional form by
// quantile regression (Dabney et al. 2018, "Distributional reinforcement learning with quantile regression"),
// where an action has N numbers: quantile i is that at the midpoint (2 i + 1) / 2 N, and Q is their mean.
// With N = 1 a number is Q itself.
#pragma once

#include <torch/torch.h>

#include "policies/learn/networks.hpp"

namespace berth {

// [B, A, N] of a network with N outputs an action. Dueling (Wang et al. 2016, eq. 9): V + A - mean of A over
// the allowed actions and their outputs, or where `temperature` [1] is defined the mean of A under softmax(A
// / temperature), whose probabilities are taken as given; otherwise the scores themselves.
torch::Tensor ReturnQuantiles(const NetworkOutput& output, const torch::Tensor& mask, bool dueling,
                              std::int64_t quantiles, const torch::Tensor& temperature = {});

// [B, A], N = 1.
torch::Tensor QValues(const NetworkOutput& output, const torch::Tensor& mask, bool dueling);

// [B, N] the return of the next observations: `target` [B, A, N] at the allowed action that is best by
// `chooser` [B, A]: the target's own Q, or, in double Q-learning, the online network's (van Hasselt et al.
// 2016, eq. 4).
torch::Tensor NextReturn(const torch::Tensor& target, const torch::Tensor& mask,
                         const torch::Tensor& chooser);

// [B] Huber's loss with threshold 1 of q [B] against goal [B].
torch::Tensor HuberLoss(const torch::Tensor& q, const torch::Tensor& goal);

// [B] The quantile Huber loss with threshold 1 (Dabney et al. 2018, eq. 9 and 10) of quantiles [B, N] against
// goals [B, M]: sum over quantiles i of the mean over goals j of |tau_i - 1[u < 0]| Huber(u), u = goal_j -
// quantile_i.
torch::Tensor QuantileHuberLoss(const torch::Tensor& quantiles, const torch::Tensor& goals);

}  // namespace berth
