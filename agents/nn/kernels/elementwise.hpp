// Gradients of activations, softmax over legal actions and Adam on plain arrays, vectorised. Thread rule:
// pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace berth::kernels {

void ReluBackward(std::span<const float> y, std::span<float> dy);  // dy *= y > 0
void TanhBackward(std::span<const float> y, std::span<float> dy);  // dy *= 1 - y^2

// The softmax of `scores` [n] over the actions with mask 1; at least one. With z = score - the highest legal
// score: log-probability of a legal action a = z[a] - log_sum.
struct SoftmaxRow {
  float log_sum;  // log of the sum of e^z
  float entropy;  // nats
};
// `shifted` [n] gets z and `probability` [n] the probabilities, both 0 at masked actions.
SoftmaxRow MaskedSoftmax(std::span<const float> scores, std::span<const std::uint8_t> mask,
                         std::span<float> shifted, std::span<float> probability);
// d[j] += the gradient at score j of g log p(action) + h entropy. Exactly 0 at masked actions.
void MaskedSoftmaxBackward(std::span<const float> shifted, std::span<const float> probability,
                           const SoftmaxRow& row, std::size_t action, float g, float h, std::span<float> d);

// The same of several rows that share their scores. With z = score - the highest that any row allows,
// `shifted` [n] gets z and `power` [n] e^z, 0 where no row allows it; sums [rows] the sums of e^z over what a
// row allows, means [rows] those of z e^z. A row whose own highest score is far below the highest has a sum
// near 0 and few digits: it is better computed alone.
void SharedSoftmax(std::span<const float> scores, std::span<const std::uint8_t* const> masks,
                   std::span<float> shifted, std::span<float> power, std::span<float> sums,
                   std::span<float> means);
// d[j] += e^z_j times the sum of c0[r] + c1[r] z_j over the rows r that allow j.
void SharedSoftmaxBackward(std::span<const std::uint8_t* const> masks, std::span<const float> shifted,
                           std::span<const float> power, std::span<const float> c0, std::span<const float> c1,
                           std::span<float> d);

double SquaredNorm(std::span<const float> x);

// One step of Adam (Kingma & Ba 2015, algorithm 1) with betas 0.9 and 0.999; `t` >= 1 is its number. The
// gradient is multiplied by `scale` first.
struct AdamStep {
  double learning_rate, epsilon, scale;
  std::int64_t t;
};
void Adam(const AdamStep& step, std::span<const float> gradient, std::span<float> parameter,
          std::span<float> first_moment, std::span<float> second_moment);

}  // namespace berth::kernels
