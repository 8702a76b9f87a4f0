#include "agents/fused/ppo_rows.hpp"

#include <algorithm>
#include <cmath>

#include "agents/kernels/elementwise.hpp"

namespace berth {

void PpoRows::Add(const PpoCoefficients& c, const PpoRow& row, std::span<const float> scores, float value,
                  std::span<float> d_scores, float& d_value, PpoTotals& totals) {
  const auto action = static_cast<std::size_t>(row.action);
  const kernels::SoftmaxRow softmax = kernels::MaskedSoftmax(scores, row.mask, shifted_, probability_);
  const float log_prob = shifted_[action] - softmax.log_sum;
  const float log_ratio = log_prob - row.old_log_prob;
  const float ratio = std::exp(log_ratio);
  const float low = static_cast<float>(1.0 - c.clip), high = static_cast<float>(1.0 + c.clip);
  const float plain = ratio * row.advantage, clipped = std::clamp(ratio, low, high) * row.advantage;
  totals.policy_loss -= std::min(plain, clipped);
  // The minimum is a constant exactly where the clipped one is less (Schulman et al. 2017, eq. 7).
  const double g = clipped < plain ? 0.0 : -static_cast<double>(plain) / c.rows;
  kernels::MaskedSoftmaxBackward(shifted_, probability_, softmax, action, static_cast<float>(g),
                                 static_cast<float>(-c.ent_coef / c.rows), d_scores);

  float error = value - row.returns, squared = error * error;
  if (c.value_clip > 0.0) {
    const auto range = static_cast<float>(c.value_clip);
    const float moved = value - row.old_value;
    const float clipped_error = row.old_value + std::clamp(moved, -range, range) - row.returns;
    if (clipped_error * clipped_error > squared) {
      squared = clipped_error * clipped_error;
      error = std::abs(moved) > range ? 0.0F : clipped_error;
    }
  }
  totals.value_loss += 0.5 * squared;
  d_value += static_cast<float>(c.vf_coef * error / c.rows);

  totals.entropy += softmax.entropy;
  const float distance = std::abs(ratio - 1.0F);
  totals.figures[0] += ratio - 1.0F - log_ratio;
  totals.figures[1] -= log_ratio;
  totals.figures[2] += distance > static_cast<float>(c.clip) ? 1.0 : 0.0;
  totals.figures[3] = std::max(totals.figures[3], static_cast<double>(distance));
}

}  // namespace berth
