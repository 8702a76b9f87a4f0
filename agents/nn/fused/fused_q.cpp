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
      share_(actions_),
      sequences_(static_cast<int>(online_->memory()), actions) {
  OnlineChanged();
  TargetChanged();
}

void FusedQ::Scores(std::span<const float* const> rows, float* scores, float* values, float* next) {
  while (!rows.empty()) {
    const auto chunk = rows.first(online_->ChunkOf(rows));
    online_->Forward(chunk, scores, values, next);
    scores += chunk.size() * actions_;
    if (next != nullptr) next += chunk.size() * online_->memory();
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
    const bool begins = !batch.joins.empty() && batch.joins[b] == TdBatch::Joins::kNot;
    if (!options_.soft || begins || heads_.empty() || heads_.back() != batch.observation[b]) {
      heads_.push_back(batch.observation[b]);
      end_.push_back(b);
    }
    end_.back() = b + 1;
  }
  Sums sums;
  if (!batch.joins.empty()) {
    AddSequences(batch, error, sums);
    const auto rows = static_cast<double>(batch.rows());
    return {sums.loss / rows, sums.q / rows};
  }
  for (std::size_t first = 0; first < heads_.size();) {
    const auto left = std::span<const float* const>(heads_).subspan(first);
    const auto chunk = left.first(online_->ChunkOf(left));
    online_->Forward(chunk, scores_.data(), Values());
    std::fill_n(other_.begin(), chunk.size() * actions_, 0.0F);
    std::fill_n(d_value_.begin(), chunk.size(), 0.0F);
    Sums of_chunk;
    for (std::size_t h = 0; h < chunk.size(); ++h) {
      AddLosses(batch, first + h, {scores_.data() + h * actions_, actions_}, value_[h],
                {other_.data() + h * actions_, actions_}, d_value_[h], error, of_chunk);
    }
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

void FusedQ::AddLosses(const TdBatch& batch, std::size_t head, std::span<const float> scores, float value,
                       std::span<float> d_scores, float& d_value, std::span<float> error, Sums& sums) {
  const float share_of_row = 1.0F / static_cast<float>(batch.rows());
  for (std::size_t b = head == 0 ? 0 : end_[head - 1]; b < end_[head]; ++b) {
    const auto action = static_cast<std::size_t>(batch.action[b]);
    const std::span<const std::uint8_t> mask(batch.mask[b], actions_);
    float q = scores[action];
    if (options_.dueling) q += value - Baseline(scores, mask);
    const float e = error[b] = q - goal_[b];
    const float size = std::abs(e);
    sums.loss += batch.weight[b] * (size < 1.0F ? 0.5F * e * e : size - 0.5F);
    sums.q += q;
    const float slope = batch.weight[b] * share_of_row * std::clamp(e, -1.0F, 1.0F);
    if (options_.dueling) {
      for (std::size_t a = 0; a < actions_; ++a) d_scores[a] -= slope * share_[a];
      d_value += slope;
    }
    d_scores[action] += slope;
  }
}

void FusedQ::AddSequences(const TdBatch& batch, std::span<float> error, Sums& sums) {
  steps_.clear();
  sequences_begin_.clear();
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const TdBatch::Joins joins = batch.joins[h == 0 ? 0 : end_[h - 1]];
    if (h == 0 || joins == TdBatch::Joins::kNot) {
      sequences_begin_.push_back(h);
    } else {
      steps_.back().passes = joins == TdBatch::Joins::kNextState;
    }
    steps_.push_back({heads_[h], false});
  }
  sequences_begin_.push_back(heads_.size());
  const auto loss = [&](std::span<const std::size_t> which, const float* scores, const float* values,
                        float* d_scores, float* d_values) {
    for (std::size_t k = 0; k < which.size(); ++k) {
      AddLosses(batch, which[k], {scores + k * actions_, actions_}, values[k],
                {d_scores + k * actions_, actions_}, d_values[k], error, sums);
    }
  };
  sequences_.AddGradient(*online_, steps_, sequences_begin_, loss, options_.dueling);
}

}  // namespace berth
