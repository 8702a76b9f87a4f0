#include "agents/fused/ppo_rows.hpp"

#include <algorithm>
#include <cmath>

#include "agents/kernels/elementwise.hpp"

namespace berth {
namespace {

// A row below it has its highest score 20 and more under the others': alone its logarithms keep their digits.
constexpr float kLeastSum = 2e-9F;

// The row's losses into the totals; gives back the gradient at the action's log-probability.
double AddLosses(const PpoCoefficients& c, const PpoRow& row, float log_prob, float entropy, float value,
                 float& d_value, PpoTotals& totals) {
  const float log_ratio = log_prob - row.old_log_prob;
  const float ratio = std::exp(log_ratio);
  const float low = static_cast<float>(1.0 - c.clip), high = static_cast<float>(1.0 + c.clip);
  const float plain = ratio * row.advantage, clipped = std::clamp(ratio, low, high) * row.advantage;
  totals.policy_loss -= std::min(plain, clipped);

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

  totals.entropy += entropy;
  const float distance = std::abs(ratio - 1.0F);
  totals.figures[0] += ratio - 1.0F - log_ratio;
  totals.figures[1] -= log_ratio;
  totals.figures[2] += distance > static_cast<float>(c.clip) ? 1.0 : 0.0;
  totals.figures[3] = std::max(totals.figures[3], static_cast<double>(distance));
  // The minimum is a constant exactly where the clipped one is less (Schulman et al. 2017, eq. 7).
  return clipped < plain ? 0.0 : -static_cast<double>(plain) / c.rows;
}

}  // namespace

void PpoRows::Add(const PpoCoefficients& c, std::span<const PpoRow> rows, std::span<const float> scores,
                  float value, std::span<float> d_scores, float& d_value, PpoTotals& totals) {
  const std::size_t count = rows.size();
  if (count == 1) return AddOne(c, rows[0], scores, value, d_scores, d_value, totals);
  masks_.clear();
  for (const PpoRow& row : rows) masks_.push_back(row.mask.data());
  for (std::vector<float>* column : {&sums_, &means_, &c0_, &c1_}) column->assign(count, 0.0F);
  kernels::SharedSoftmax(scores, masks_, shifted_, power_, sums_, means_);
  const auto h = static_cast<float>(-c.ent_coef / c.rows);
  for (std::size_t r = 0; r < count; ++r) {
    if (sums_[r] < kLeastSum) {
      AddOne(c, rows[r], scores, value, d_scores, d_value, totals);  // leaves shifted_ and power_ alone
      continue;
    }
    const auto action = static_cast<std::size_t>(rows[r].action);
    const float log_sum = std::log(sums_[r]), mean = means_[r] / sums_[r];
    const auto g = static_cast<float>(
        AddLosses(c, rows[r], shifted_[action] - log_sum, log_sum - mean, value, d_value, totals));
    // As kernels::MaskedSoftmaxBackward, a probability being e^z over the row's sum.
    c0_[r] = (-g + h * mean) / sums_[r];
    c1_[r] = -h / sums_[r];
    d_scores[action] += g;
  }
  kernels::SharedSoftmaxBackward(masks_, shifted_, power_, c0_, c1_, d_scores);
}

void PpoRows::AddOne(const PpoCoefficients& c, const PpoRow& row, std::span<const float> scores, float value,
                     std::span<float> d_scores, float& d_value, PpoTotals& totals) {
  const kernels::SoftmaxRow softmax = kernels::MaskedSoftmax(scores, row.mask, alone_, probability_);
  const auto action = static_cast<std::size_t>(row.action);
  const double g =
      AddLosses(c, row, alone_[action] - softmax.log_sum, softmax.entropy, value, d_value, totals);
  kernels::MaskedSoftmaxBackward(alone_, probability_, softmax, action, static_cast<float>(g),
                                 static_cast<float>(-c.ent_coef / c.rows), d_scores);
}

}  // namespace berth
