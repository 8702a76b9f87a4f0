// The loss of proximal policy optimisation (Schulman et al. 2017, eq. 7 and 9) as sums over rows, so that
// shards of a minibatch add up to it.
#pragma once

#include <torch/torch.h>

namespace berth {

struct PpoBatch {
  torch::Tensor mask;          // [R, A] uint8, stored when the actions were drawn
  torch::Tensor action;        // [R] int64
  torch::Tensor old_log_prob;  // [R]
  torch::Tensor advantage;     // [R], normalised
  torch::Tensor returns;       // [R]
  torch::Tensor old_value;     // [R]
};

struct PpoSums {
  torch::Tensor policy_loss;  // differentiable: - min(ratio A, clip(ratio) A)
  torch::Tensor value_loss;   // differentiable: 1/2 squared error, clipped where asked
  torch::Tensor entropy;      // differentiable, nats
  torch::Tensor figures;      // [kPpoFigures] no gradient
};
// Figures: approx_kl = (ratio - 1) - log ratio (Schulman 2020, "k3"), old_approx_kl = - log ratio, clipped
// rows, and the largest |ratio - 1| (a maximum, not a sum).
inline constexpr int kPpoFigures = 4;

// scores [R, A] and value [R] as the network gives them now. value_clip <= 0: no value clipping.
PpoSums PpoLoss(const torch::Tensor& scores, const torch::Tensor& value, const PpoBatch& batch, double clip,
                double value_clip);

}  // namespace berth
