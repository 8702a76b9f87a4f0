// The categorical distribution over the allowed actions: masked logits are -1e8, not -inf, so that nothing
// becomes NaN (Huang & Ontanon 2020). A row must allow at least one action.
#pragma once

#include <torch/torch.h>

#include "agents/nn/fused/masked_choice.hpp"

namespace berth {

inline constexpr float kMaskedLogit = -1e8F;

// scores [B, A], mask [B, A] uint8. Differentiable; the gradient at masked scores is exactly 0.
struct MaskedDistribution {
  torch::Tensor log_prob;  // [B, A]
  torch::Tensor entropy;   // [B] nats, over the allowed actions only
};
MaskedDistribution MakeMaskedDistribution(const torch::Tensor& scores, const torch::Tensor& mask);

}  // namespace berth
