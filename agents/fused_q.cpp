#include "agents/fused_q.hpp"

#include <algorithm>
#include <cmath>

#include "agents/kernels/elementwise.hpp"
#include "agents/masked_categorical.hpp"

namespace berth {
namespace {

float MeanAllowed(std::span<const float> scores, std::span<const std::uint8_t> mask) {
  float sum = 0.0F, count = 0.0F;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    sum += mask[a] ? scores[a] : 0.0F;
    count += mask[a] ? 1.0F : 0.0F;
  }
  return sum / std::max(count, 1.0F);
}

// Sums up what is the same for both heads: the weighted mean of Huber's loss (threshold 1), and its slope.
class Loss {
 public:
  explicit Loss(const TdBatch& batch) : batch_(batch), share_(1.0F / static_cast<float>(batch.rows)) {}
  // Returns d loss / d q of row b.
  float Add(std::size_t b, float q, float goal, float& error) {
    error = q - goal;
    const float size = std::abs(error);
    loss_ += batch_.weight[b] * (size < 1.0F ? 0.5F * error * error : size - 0.5F);
    q_ += q;
    return batch_.weight[b] * share_ * std::clamp(error, -1.0F, 1.0F);
  }
  TdFigures figures() const { return {loss_ * share_, q_ * share_}; }

 private:
  const TdBatch& batch_;
  float share_;
  double loss_ = 0.0, q_ = 0.0;
};

}  // namespace

FusedQ::FusedQ(const Layers& layers, const TdOptions& options)
    : options_(options),
      actions_(static_cast<std::size_t>(layers.scores.back().outputs)),
      online_{{layers.scores, layers.activation}, {layers.value, layers.activation}},
      target_(online_) {}

void FusedQ::SetOnline(const float* parameters) {
  parameters_ = parameters;
  online_.scores.Pack(parameters, /*backward=*/true);
  if (options_.dueling) online_.value.Pack(parameters, /*backward=*/true);
}

void FusedQ::SetTarget(const float* parameters) {
  target_.scores.Pack(parameters, /*backward=*/false);
  if (options_.dueling) target_.value.Pack(parameters, /*backward=*/false);
}

void FusedQ::Scores(const float* observation, int rows, float* scores) {
  online_.scores.Forward(observation, rows, scores);
}

TdFigures FusedQ::Gradient(const TdBatch& batch, std::span<float> gradient, std::span<float> error) {
  const auto rows = static_cast<std::size_t>(batch.rows);
  scores_.resize(rows * actions_);
  other_.resize(rows * actions_);
  value_.resize(rows);
  d_value_.resize(rows);
  goal_.resize(rows);
  std::fill(gradient.begin(), gradient.end(), 0.0F);
  Goals(batch);
  return options_.dueling ? Dueling(batch, gradient, error) : Plain(batch, gradient, error);
}

void FusedQ::Goals(const TdBatch& batch) {
  const float* next = batch.next_observation.data();
  target_.scores.Forward(next, batch.rows, scores_.data());
  if (options_.dueling) target_.value.Forward(next, batch.rows, value_.data());
  if (options_.double_q) online_.scores.Forward(next, batch.rows, other_.data());
  for (std::size_t b = 0; b < goal_.size(); ++b) {
    const auto mask = Row(batch.next_mask.data(), b);
    const auto scores = Row<const float>(scores_.data(), b);
    const int best = ArgmaxMasked(options_.double_q ? Row<const float>(other_.data(), b) : scores, mask);
    float value = scores[static_cast<std::size_t>(best)];
    if (options_.dueling) value += value_[b] - MeanAllowed(scores, mask);
    goal_[b] = batch.reward[b] + batch.discount[b] * value;
  }
}

// The last layer is needed for the actions taken alone, forward and backward: one row of its weights each.
TdFigures FusedQ::Plain(const TdBatch& batch, std::span<float> gradient, std::span<float> error) {
  const TrunkLayer& last = online_.scores.last();
  const auto units = static_cast<std::size_t>(last.inputs);
  const float* hidden = online_.scores.Hidden(batch.observation.data(), batch.rows);
  d_hidden_.resize(goal_.size() * units);
  Loss loss(batch);
  for (std::size_t b = 0; b < goal_.size(); ++b) {
    const auto action = static_cast<std::size_t>(batch.action[b]);
    const float* weight = parameters_ + last.weight + action * units;
    const float* h = hidden + b * units;
    float q = 0.0F;
    kernels::ForwardOne(h, last.inputs, 1, last.inputs, weight, parameters_[last.bias + action], &q);
    const float slope = loss.Add(b, q, goal_[b], error[b]);
    kernels::BackwardOne(h, last.inputs, 1, last.inputs, &slope,
                         gradient.data() + last.weight + action * units);
    gradient[last.bias + action] += slope;
    float* dh = d_hidden_.data() + b * units;
    for (std::size_t k = 0; k < units; ++k) dh[k] = slope * weight[k];
  }
  online_.scores.BackwardHidden(batch.observation.data(), batch.rows, d_hidden_.data(), gradient.data());
  return loss.figures();
}

TdFigures FusedQ::Dueling(const TdBatch& batch, std::span<float> gradient, std::span<float> error) {
  const float* x = batch.observation.data();
  online_.scores.Forward(x, batch.rows, scores_.data());
  online_.value.Forward(x, batch.rows, value_.data());
  Loss loss(batch);
  for (std::size_t b = 0; b < goal_.size(); ++b) {
    const auto action = static_cast<std::size_t>(batch.action[b]);
    const auto mask = Row(batch.mask.data(), b);
    const auto scores = Row<const float>(scores_.data(), b);
    const float q = value_[b] + scores[action] - MeanAllowed(scores, mask);
    const float slope = loss.Add(b, q, goal_[b], error[b]);
    d_value_[b] = slope;
    const auto allowed = static_cast<float>(std::count(mask.begin(), mask.end(), 1));
    const auto d = Row(other_.data(), b);
    for (std::size_t a = 0; a < actions_; ++a) d[a] = mask[a] ? -slope / allowed : 0.0F;
    d[action] += slope;
  }
  online_.scores.Backward(x, batch.rows, other_.data(), gradient.data());
  online_.value.Backward(x, batch.rows, d_value_.data(), gradient.data());
  return loss.figures();
}

}  // namespace berth
