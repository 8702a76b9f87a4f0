// The categorical distribution over the allowed actions: masked logits are -1e8, not -inf, so that nothing
// becomes NaN (Huang & Ontanon 2020). A row must allow at least one action.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>

#include "env/rng.hpp"

namespace berth {

inline constexpr float kMaskedLogit = -1e8F;

struct MaskedSample {
  int action = -1;
  float log_prob = 0.0F;
};
// logits [A], mask [A] 1 = allowed. One uniform draw a sample, whatever A is (inverse of the distribution
// function); torch's multinomial is slower than the policies that it would sample from.
MaskedSample SampleMasked(std::span<const float> logits, std::span<const std::uint8_t> mask, Stream& stream);
// The best allowed action; the lowest index among equals.
int ArgmaxMasked(std::span<const float> scores, std::span<const std::uint8_t> mask);
// An allowed action, uniformly.
int UniformMasked(std::span<const std::uint8_t> mask, Stream& stream);

// scores [B, A], mask [B, A] uint8. Differentiable; the gradient at masked scores is exactly 0.
struct MaskedDistribution {
  torch::Tensor log_prob;  // [B, A]
  torch::Tensor entropy;   // [B] nats, over the allowed actions only
};
MaskedDistribution MakeMaskedDistribution(const torch::Tensor& scores, const torch::Tensor& mask);

}  // namespace berth
