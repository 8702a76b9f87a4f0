// A row of scores under a mask, a warp a row: the masked categorical (Huang & Ontanon 2020) sampled, with its
// log-probability and entropy, and PPO's loss with its gradient, each in one pass over the row's memory after
// the highest score is known.
#pragma once

#include <cstdint>

#include "agents/gpu/cuda/numbers.hpp"
#include "agents/gpu/cuda/warp.hpp"
#include "agents/nn/fused/ppo_losses.hpp"

namespace berth::cuda {

// Of a row [actions]; at least one action is legal.
struct MaskedRow {
  const float* scores;
  const std::uint8_t* mask;
  int actions;
};

// With z = score - highest legal score: log p(a) = z[a] - log_sum, H = log_sum - mean.
struct RowSoftmax {
  float highest, sum, mean, log_sum;  // sum of e^z; mean of z under p
};

BERTH_HOST_DEVICE RowSoftmax SoftmaxOf(const Warp& warp, const MaskedRow& row) {
  const auto max = [](float a, float b) { return a > b ? a : b; };
  const auto add = [](float a, float b) { return a + b; };
  PerLane<float> best, sum, mean;
  warp.Each([&](int lane) {
    float highest = -3.402823466e38F;
    for (int a = lane; a < row.actions; a += kLanes) {
      if (row.mask[a]) highest = max(highest, row.scores[a]);
    }
    best[lane] = highest;
  });
  RowSoftmax out;
  out.highest = warp.Reduce(best, max);
  warp.Each([&](int lane) {
    float s = 0.0F, m = 0.0F;
    for (int a = lane; a < row.actions; a += kLanes) {
      if (!row.mask[a]) continue;
      const float z = row.scores[a] - out.highest, e = Exp(z);
      s += e;
      m += e * z;
    }
    sum[lane] = s;
    mean[lane] = m;
  });
  out.sum = warp.Reduce(sum, add);
  out.mean = warp.Reduce(mean, add) / out.sum;
  out.log_sum = Log(out.sum);
  return out;
}

struct RowSample {
  int action;
  float log_prob, entropy;
};

// By the inverse of the distribution function: the first legal action at which the probabilities so far
// exceed `uniform` in [0, 1); the last legal one where rounding leaves a rest.
BERTH_HOST_DEVICE RowSample SampleRow(const Warp& warp, const MaskedRow& row, double uniform) {
  const RowSoftmax softmax = SoftmaxOf(warp, row);
  const auto min = [](int a, int b) { return a < b ? a : b; };
  const auto max = [](int a, int b) { return a > b ? a : b; };
  double before = 0.0;
  int action = row.actions, last_legal = -1;
  for (int begin = 0; begin < row.actions && action == row.actions; begin += kLanes) {
    PerLane<double> reached;
    PerLane<int> found, legal;
    warp.Each([&](int lane) {
      const int a = begin + lane;
      const bool may = a < row.actions && row.mask[a];
      reached[lane] =
          may ? static_cast<double>(Exp(row.scores[a] - softmax.highest)) / static_cast<double>(softmax.sum)
              : 0.0;
      legal[lane] = may ? a : -1;
    });
    warp.Scan(reached, [](double x, double y) { return x + y; });
    warp.Each([&](int lane) {
      found[lane] = legal[lane] >= 0 && uniform < before + reached[lane] ? legal[lane] : row.actions;
    });
    action = warp.Reduce(found, min);
    last_legal = max(last_legal, warp.Reduce(legal, max));
    before += warp.Last(reached);
  }
  if (action == row.actions) action = last_legal;
  // Of a row of NaN, or without a legal action, as an index that can be read; the trainer finds the NaN.
  if (action < 0) action = 0;
  return {action, row.scores[action] - softmax.highest - softmax.log_sum, softmax.log_sum - softmax.mean};
}

inline constexpr int kPpoSums =
    7;  // policy, value and entropy loss, approx_kl, old_approx_kl, clipped, distance

// The loss of one row into sums [kPpoSums] (the last is a maximum over rows), and the gradient of
// (policy_loss + vf_coef value_loss - ent_coef entropy) / rows at its scores, written to d_scores [actions],
// and at its value.
BERTH_HOST_DEVICE void PpoRowOf(const Warp& warp, const MaskedRow& row, const PpoCoefficients& c,
                                const PpoTargets& targets, int action, float old_log_prob, float value,
                                float* d_scores, float* d_value, float* sums) {
  const RowSoftmax softmax = SoftmaxOf(warp, row);
  const float log_prob = row.scores[action] - softmax.highest - softmax.log_sum;
  const float entropy = softmax.log_sum - softmax.mean, log_ratio = log_prob - old_log_prob;
  const PpoRowLoss loss = LossOf(c, targets, log_ratio, Exp(log_ratio), value);
  const auto g = static_cast<float>(loss.d_log_prob), h = static_cast<float>(-c.ent_coef / c.rows);
  warp.Each([&](int lane) {
    for (int a = lane; a < row.actions; a += kLanes) {
      float d = 0.0F;
      if (row.mask[a]) {
        const float z = row.scores[a] - softmax.highest, p = Exp(z) / softmax.sum;
        // d log p(action) = [a = action] - p,   dH = -p (log p + H) = -p (z - mean)
        d = (a == action ? g : 0.0F) - p * (g + h * (z - softmax.mean));
      }
      d_scores[a] = d;
    }
    if (lane != 0) return;
    *d_value = loss.d_value;
    sums[0] = loss.policy_loss;
    sums[1] = static_cast<float>(loss.value_loss);
    sums[2] = entropy;
    sums[3] = loss.approx_kl;
    sums[4] = -log_ratio;
    sums[5] = loss.clipped ? 1.0F : 0.0F;
    sums[6] = loss.distance;
  });
}

}  // namespace berth::cuda
