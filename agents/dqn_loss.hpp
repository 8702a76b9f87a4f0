// Q values and targets of deep Q-learning (Mnih et al. 2015).
#pragma once

#include <torch/torch.h>

#include "policies/learn/networks.hpp"

namespace berth {

// [B, A]. Dueling (Wang et al. 2016, eq. 9): Q = V + A - mean of A over the allowed actions; otherwise the
// scores are Q.
torch::Tensor QValues(const NetworkOutput& output, const torch::Tensor& mask, bool dueling);

// [B] the value of the next observations: max over the allowed actions of `target` [B, A], or, with `online`
// [B, A] (double Q-learning, van Hasselt et al. 2016, eq. 4), the target's value of the online network's best
// allowed action.
torch::Tensor NextValue(const torch::Tensor& target, const torch::Tensor& mask,
                        const torch::Tensor& online = {});

}  // namespace berth
