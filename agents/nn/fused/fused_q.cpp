#include "agents/nn/fused/fused_q.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/nn/fused/masked_choice.hpp"

namespace berth {
namespace {

// The mean over the allowed actions, and how many they are.
std::pair<float, float> MeanAllowed(std::span<const float> scores, std::span<const std::uint8_t> mask) {
  float sum = 0.0F, count = 0.0F;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    sum += mask[a] ? scores[a] : 0.0F;
    count += mask[a] ? 1.0F : 0.0F;
  }
  count = std::max(count, 1.0F);
  return {sum / count, count};
}

}  // namespace

FusedQ::FusedQ(std::unique_ptr<FusedNetwork> online, std::unique_ptr<FusedNetwork> target, int actions,
               const TdOptions& options)
    : online_(std::move(online)),
      target_(std::move(target)),
      actions_(static_cast<std::size_t>(actions)),
      options_(options) {
  OnlineChanged();
  TargetChanged();
}

void FusedQ::Scores(std::span<const float* const> rows, float* scores) {
  while (!rows.empty()) {
    const auto chunk = rows.first(online_->ChunkOf(rows));
    online_->Forward(chunk, scores, nullptr);
    scores += chunk.size() * actions_;
    rows = rows.subspan(chunk.size());
  }
}

TdFigures FusedQ::Gradient(const TdBatch& batch, std::span<float> error) {
  scores_.resize(batch.rows() * actions_);
  other_.resize(batch.rows() * actions_);
  for (auto* column : {&value_, &d_value_, &goal_}) column->resize(batch.rows());
  Goals(batch);
  std::fill(gradient().begin(), gradient().end(), 0.0F);
  Sums sums;
  std::span<const float* const> rows = batch.observation;
  for (std::size_t begin = 0; begin < batch.rows();) {
    const auto chunk = rows.first(online_->ChunkOf(rows));
    online_->Forward(chunk, scores_.data(), Values());
    const Sums of_chunk = Losses(batch, begin, chunk.size(), error);
    online_->Backward(other_.data(), options_.dueling ? d_value_.data() : nullptr);
    sums.loss += of_chunk.loss;
    sums.q += of_chunk.q;
    rows = rows.subspan(chunk.size());
    begin += chunk.size();
  }
  const auto n = static_cast<double>(batch.rows());
  return {sums.loss / n, sums.q / n};
}

void FusedQ::Goals(const TdBatch& batch) {
  if (options_.double_q) Scores(batch.next_observation, other_.data());
  std::span<const float* const> rows = batch.next_observation;
  for (std::size_t b = 0; b < batch.rows();) {
    const auto chunk = rows.first(target_->ChunkOf(rows));
    target_->Forward(chunk, scores_.data(), Values());
    rows = rows.subspan(chunk.size());
    for (std::size_t r = 0; r < chunk.size(); ++r, ++b) {
      const std::span<const std::uint8_t> mask(batch.next_mask[b], actions_);
      const std::span<const float> scores(scores_.data() + r * actions_, actions_);
      const std::span<const float> chooser =
          options_.double_q ? std::span<const float>(other_.data() + b * actions_, actions_) : scores;
      float value = scores[static_cast<std::size_t>(ArgmaxMasked(chooser, mask))];
      if (options_.dueling) value += value_[r] - MeanAllowed(scores, mask).first;
      goal_[b] = batch.reward[b] + batch.discount[b] * value;
    }
  }
}

FusedQ::Sums FusedQ::Losses(const TdBatch& batch, std::size_t begin, std::size_t rows,
                            std::span<float> error) {
  const float share = 1.0F / static_cast<float>(batch.rows());
  std::fill_n(other_.begin(), rows * actions_, 0.0F);
  Sums sums;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t b = begin + r;
    const auto action = static_cast<std::size_t>(batch.action[b]);
    const std::span<const std::uint8_t> mask(batch.mask[b], actions_);
    const std::span<const float> scores(scores_.data() + r * actions_, actions_);
    const std::span<float> d_scores(other_.data() + r * actions_, actions_);
    float q = scores[action], allowed = 1.0F;
    if (options_.dueling) {
      const auto [mean, count] = MeanAllowed(scores, mask);
      q += value_[r] - mean;
      allowed = count;
    }
    const float e = error[b] = q - goal_[b];
    const float size = std::abs(e);
    sums.loss += batch.weight[b] * (size < 1.0F ? 0.5F * e * e : size - 0.5F);
    sums.q += q;
    const float slope = batch.weight[b] * share * std::clamp(e, -1.0F, 1.0F);
    if (options_.dueling) {
      for (std::size_t a = 0; a < actions_; ++a) d_scores[a] = mask[a] ? -slope / allowed : 0.0F;
      d_value_[r] = slope;
    }
    d_scores[action] += slope;
  }
  return sums;
}

}  // namespace berth
