// Choosing among the allowed actions of one row. A row must allow at least one. Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "env/base/rng.hpp"

namespace berth {

struct MaskedSample {
  int action = -1;
  float log_prob = 0.0F;
};
// logits [A], mask [A] 1 = allowed. One uniform draw a sample, whatever A is (inverse of the distribution
// function); torch's multinomial is slower than the policies that it would sample from.
MaskedSample SampleMasked(std::span<const float> logits, std::span<const std::uint8_t> mask, Stream& stream);
// The mean of `scores` under the policy softmax(scores / temperature) over the allowed actions, whose
// probabilities go to `policy` [A], 0 of the others.
float SoftMean(std::span<const float> scores, std::span<const std::uint8_t> mask, double temperature,
               std::span<float> policy);
// The best allowed action; the lowest index among equals.
int ArgmaxMasked(std::span<const float> scores, std::span<const std::uint8_t> mask);
// An allowed action, uniformly.
int UniformMasked(std::span<const std::uint8_t> mask, Stream& stream);

}  // namespace berth
