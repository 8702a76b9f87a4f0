#include "agents/nn/fused/ppo_rows.hpp"

#include <algorithm>
#include <cmath>

#include "agents/nn/kernels/elementwise.hpp"

namespace berth {
namespace {

// A row below it has its highest score 20 and more under the others': alone its logarithms keep their digits.
constexpr float kLeastSum = 2e-9F;

// The row's losses into the totals; gives back the gradient at the action's log-probability.
double AddLosses(const PpoCoefficients& c, const PpoRow& row, float log_prob, float entropy, float value,
                 float& d_value, PpoTotals& totals) {
  const float log_ratio = log_prob - row.old_log_prob;
  const PpoRowLoss loss =
      LossOf(c, {row.advantage, row.returns, row.old_value}, log_ratio, std::exp(log_ratio), value);
  totals.policy_loss += loss.policy_loss;
  totals.value_loss += loss.value_loss;
  d_value += loss.d_value;
  totals.entropy += entropy;
  totals.figures[0] += loss.approx_kl;
  totals.figures[1] -= log_ratio;
  totals.figures[2] += loss.clipped ? 1.0 : 0.0;
  totals.figures[3] = std::max(totals.figures[3], static_cast<double>(loss.distance));
  return loss.d_log_prob;
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
