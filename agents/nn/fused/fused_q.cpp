#include "agents/nn/fused/fused_q.hpp"

#include <algorithm>
#include <cmath>

#include "agents/nn/fused/masked_choice.hpp"

namespace berth {
namespace {

// The mean over the allowed actions, of which each is the same share.
float MeanAllowed(std::span<const float> scores, std::span<const std::uint8_t> mask, std::span<float> share) {
  float sum = 0.0F, count = 0.0F;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    sum += mask[a] ? scores[a] : 0.0F;
    count += mask[a] ? 1.0F : 0.0F;
  }
  count = std::max(count, 1.0F);
  for (std::size_t a = 0; a < mask.size(); ++a) share[a] = mask[a] ? 1.0F / count : 0.0F;
  return sum / count;
}

}  // namespace

FusedQ::FusedQ(std::unique_ptr<FusedNetwork> online, std::unique_ptr<FusedNetwork> target, int actions,
               const TdOptions& options)
    : online_(std::move(online)),
      target_(std::move(target)),
      actions_(static_cast<std::size_t>(actions)),
      options_(options),
      share_(actions_) {
  OnlineChanged();
  TargetChanged();
}

void FusedQ::Scores(std::span<const float* const> rows, float* scores, float* values) {
  while (!rows.empty()) {
    const auto chunk = rows.first(online_->ChunkOf(rows));
    online_->Forward(chunk, scores, values);
    scores += chunk.size() * actions_;
    if (values != nullptr) values += chunk.size();
    rows = rows.subspan(chunk.size());
  }
}

TdFigures FusedQ::Gradient(const TdBatch& batch, std::span<float> error) {
  scores_.resize(batch.rows() * actions_);
  other_.resize(batch.rows() * actions_);
  for (auto* column : {&value_, &d_value_, &goal_}) column->resize(batch.rows());
  temperature_ = batch.temperature;
  if (options_.soft) {
    goal_ = batch.reward;
  } else {
    Goals(batch);
  }
  std::fill(gradient().begin(), gradient().end(), 0.0F);
  heads_.clear();
  end_.clear();
  for (std::size_t b = 0; b < batch.rows(); ++b) {
    // Drawn rows of one observation are neighbours by chance alone: a pass each.
    if (!options_.soft || heads_.empty() || heads_.back() != batch.observation[b]) {
      heads_.push_back(batch.observation[b]);
      end_.push_back(b);
    }
    end_.back() = b + 1;
  }
  Sums sums;
  for (std::size_t first = 0; first < heads_.size();) {
    const auto left = std::span<const float* const>(heads_).subspan(first);
    const auto chunk = left.first(online_->ChunkOf(left));
    online_->Forward(chunk, scores_.data(), Values());
    const Sums of_chunk = Losses(batch, first, chunk.size(), error);
    online_->Backward(other_.data(), options_.dueling ? d_value_.data() : nullptr);
    sums.loss += of_chunk.loss;
    sums.q += of_chunk.q;
    first += chunk.size();
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
      if (options_.dueling) value += value_[r] - Baseline(scores, mask);
      goal_[b] = batch.reward[b] + batch.discount[b] * value;
    }
  }
}

float FusedQ::Baseline(std::span<const float> scores, std::span<const std::uint8_t> mask) {
  return options_.soft ? SoftMean(scores, mask, temperature_, share_) : MeanAllowed(scores, mask, share_);
}

FusedQ::Sums FusedQ::Losses(const TdBatch& batch, std::size_t first, std::size_t count,
                            std::span<float> error) {
  const float share_of_row = 1.0F / static_cast<float>(batch.rows());
  std::fill_n(other_.begin(), count * actions_, 0.0F);
  std::fill_n(d_value_.begin(), count, 0.0F);
  Sums sums;
  std::size_t b = first == 0 ? 0 : end_[first - 1];
  for (std::size_t h = 0; h < count; ++h) {
    const std::span<const float> scores(scores_.data() + h * actions_, actions_);
    const std::span<float> d_scores(other_.data() + h * actions_, actions_);
    for (; b < end_[first + h]; ++b) {
      const auto action = static_cast<std::size_t>(batch.action[b]);
      const std::span<const std::uint8_t> mask(batch.mask[b], actions_);
      float q = scores[action];
      if (options_.dueling) q += value_[h] - Baseline(scores, mask);
      const float e = error[b] = q - goal_[b];
      const float size = std::abs(e);
      sums.loss += batch.weight[b] * (size < 1.0F ? 0.5F * e * e : size - 0.5F);
      sums.q += q;
      const float slope = batch.weight[b] * share_of_row * std::clamp(e, -1.0F, 1.0F);
      if (options_.dueling) {
        for (std::size_t a = 0; a < actions_; ++a) d_scores[a] -= slope * share_[a];
        d_value_[h] += slope;
      }
      d_scores[action] += slope;
    }
  }
  return sums;
}

}  // namespace berth
