#include "agents/nn/kernels/elementwise.hpp"

#include <cmath>

#include "agents/nn/kernels/kernel_table.hpp"

namespace berth::kernels {

void ReluBackward(std::span<const float> y, std::span<float> dy) {
  Kernels().relu_backward(y.data(), dy.data(), dy.size());
}
void TanhBackward(std::span<const float> y, std::span<float> dy) {
  Kernels().tanh_backward(y.data(), dy.data(), dy.size());
}

SoftmaxRow MaskedSoftmax(std::span<const float> scores, std::span<const std::uint8_t> mask,
                         std::span<float> shifted, std::span<float> probability) {
  float sum = 0.0F, mean_shifted = 0.0F;
  Kernels().masked_softmax(scores.data(), mask.data(), mask.size(), shifted.data(), probability.data(), &sum,
                           &mean_shifted);
  const float log_sum = std::log(sum);
  return {log_sum, log_sum - mean_shifted};
}

// d log p_a / d s_j = [j = a] - p_j, and d H / d s_j = - p_j (log p_j + H), with log p_j = z_j - log_sum.
void MaskedSoftmaxBackward(std::span<const float> shifted, std::span<const float> probability,
                           const SoftmaxRow& row, std::size_t action, float g, float h, std::span<float> d) {
  Kernels().softmax_backward(probability.data(), shifted.data(), d.size(),
                             -g + h * (row.log_sum - row.entropy), -h, d.data());
  d[action] += g;
}

void SharedSoftmax(std::span<const float> scores, std::span<const std::uint8_t* const> masks,
                   std::span<float> shifted, std::span<float> power, std::span<float> sums,
                   std::span<float> means) {
  Kernels().shared_softmax({scores.data(), masks.data(), masks.size(), scores.size()}, shifted.data(),
                           power.data(), sums.data(), means.data());
}

void SharedSoftmaxBackward(std::span<const std::uint8_t* const> masks, std::span<const float> shifted,
                           std::span<const float> power, std::span<const float> c0, std::span<const float> c1,
                           std::span<float> d) {
  Kernels().shared_softmax_backward({nullptr, masks.data(), masks.size(), d.size()}, shifted.data(),
                                    power.data(), c0.data(), c1.data(), d.data());
}

double SquaredNorm(std::span<const float> x) {
  return Kernels().squared_norm(x.data(), x.size());
}

void Adam(const AdamStep& step, std::span<const float> gradient, std::span<float> parameter,
          std::span<float> first_moment, std::span<float> second_moment) {
  const auto t = static_cast<double>(step.t);
  const double first = 1.0 - std::pow(0.9, t), second = 1.0 - std::pow(0.999, t);
  Kernels().adam({.parameter = parameter.data(),
                  .first = first_moment.data(),
                  .second = second_moment.data(),
                  .gradient = gradient.data(),
                  .size = gradient.size(),
                  .scale = static_cast<float>(step.scale),
                  .step = static_cast<float>(step.learning_rate / first),
                  .root_correction = static_cast<float>(1.0 / std::sqrt(second)),
                  .epsilon = static_cast<float>(step.epsilon)});
}

}  // namespace berth::kernels
