// PPO's loss of one row (Schulman et al. 2017, eq. 7 and 9) and what it does to the value: in one source for
// the passes on the CPU (ppo_rows.cpp) and on the device (agents/gpu/cuda/).
#pragma once

#include "agents/nn/kernels/host_device.hpp"

namespace berth {

struct PpoCoefficients {
  double clip = 0.2, value_clip = 0.0, vf_coef = 0.5, ent_coef = 0.0;
  double rows = 1.0;  // of the whole minibatch: what the sums are divided by
};

struct PpoTargets {
  float advantage, returns, old_value;
};

struct PpoRowLoss {
  double d_log_prob;  // gradient of (policy_loss + vf_coef value_loss) / rows at the action's log-probability
  float d_value;      // ... and at the value
  float policy_loss;  // - min(ratio A, clip(ratio) A)
  double value_loss;  // 1/2 squared error, clipped where asked
  float approx_kl;    // (ratio - 1) - log ratio (Schulman 2020, "k3")
  float distance;     // |ratio - 1|
  bool clipped;       // distance > clip
};

// `ratio` is e^log_ratio.
BERTH_HOST_DEVICE PpoRowLoss LossOf(const PpoCoefficients& c, const PpoTargets& row, float log_ratio,
                                    float ratio, float value) {
  PpoRowLoss out{};
  const float low = static_cast<float>(1.0 - c.clip), high = static_cast<float>(1.0 + c.clip);
  const float bounded = ratio < low ? low : high < ratio ? high : ratio;
  const float plain = ratio * row.advantage, clipped = bounded * row.advantage;
  out.policy_loss = -(clipped < plain ? clipped : plain);

  float error = value - row.returns, squared = error * error;
  if (c.value_clip > 0.0) {
    const auto range = static_cast<float>(c.value_clip);
    const float moved = value - row.old_value;
    const float bounded_move = moved < -range ? -range : range < moved ? range : moved;
    const float clipped_error = row.old_value + bounded_move - row.returns;
    if (clipped_error * clipped_error > squared) {
      squared = clipped_error * clipped_error;
      error = moved > range || moved < -range ? 0.0F : clipped_error;
    }
  }
  out.value_loss = 0.5 * squared;
  out.d_value = static_cast<float>(c.vf_coef * error / c.rows);

  out.distance = ratio < 1.0F ? 1.0F - ratio : ratio - 1.0F;
  out.approx_kl = ratio - 1.0F - log_ratio;
  out.clipped = out.distance > static_cast<float>(c.clip);
  // The minimum is a constant exactly where the clipped one is less (eq. 7).
  out.d_log_prob = clipped < plain ? 0.0 : -static_cast<double>(plain) / c.rows;
  return out;
}

}  // namespace berth
