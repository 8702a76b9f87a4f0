#include "agents/nn/fused/fused_sequences.hpp"

#include <algorithm>
#include <numeric>

namespace berth {

void SequenceOrder::Set(std::span<const std::size_t> begin) {
  begin_.assign(begin.begin(), begin.end());
  order_.resize(begin_.size() - 1);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return begin_[a + 1] - begin_[a] > begin_[b + 1] - begin_[b];
  });
}

std::size_t SequenceOrder::Active(std::size_t t) const {
  std::size_t active = 0;
  while (active < order_.size() && Length(active) > t) ++active;
  return active;
}

void FusedSequences::Rows(std::span<const SequenceStep> steps, std::size_t t, std::size_t count) {
  rows_.clear();
  which_.clear();
  for (std::size_t k = 0; k < count; ++k) {
    which_.push_back(order_.StepOf(k, t));
    rows_.push_back(steps[which_.back()].row);
  }
}

// The states at every step.
void FusedSequences::Recall(FusedNetwork& network, std::span<const SequenceStep> steps) {
  const std::size_t all = order_.size();
  states_.resize(order_.longest() * all * memory_);
  next_.resize(all * memory_);
  Rows(steps, 0, all);
  for (std::size_t k = 0; k < all; ++k) {
    const float* state = rows_[k] + network.observation_size();
    std::copy_n(state, memory_, StatesAt(0) + k * memory_);
  }
  for (std::size_t t = 0; t + 1 < order_.longest(); ++t) {
    const std::size_t active = order_.Active(t + 1);
    Rows(steps, t, active);
    for (std::size_t first = 0; first < active;) {
      const auto left = std::span<const float* const>(rows_).subspan(first);
      const auto chunk = left.first(network.ChunkOf(left));
      network.Recall(chunk, next_.data() + first * memory_, StatesAt(t) + first * memory_);
      first += chunk.size();
    }
    for (std::size_t k = 0; k < active; ++k) {
      const float* from = steps[which_[k]].passes ? next_.data() : StatesAt(t);
      std::copy_n(from + k * memory_, memory_, StatesAt(t + 1) + k * memory_);
    }
  }
}

void FusedSequences::AddGradient(FusedNetwork& network, std::span<const SequenceStep> steps,
                                 std::span<const std::size_t> begin, const Loss& loss, bool values) {
  order_.Set(begin);
  Recall(network, steps);
  d_states_.assign(order_.size() * memory_, 0.0F);  // at the states of step t + 1
  for (std::size_t t = order_.longest(); t-- > 0;) {
    const std::size_t active = order_.Active(t);
    Rows(steps, t, active);
    d_next_.assign(active * memory_, 0.0F);
    for (std::size_t k = 0; k < order_.Active(t + 1); ++k) {
      if (!steps[which_[k]].passes) continue;
      std::copy_n(d_states_.data() + k * memory_, memory_, d_next_.data() + k * memory_);
      std::fill_n(d_states_.data() + k * memory_, memory_, 0.0F);  // what stays goes to the same state
    }
    for (std::size_t first = 0; first < active;) {
      const auto left = std::span<const float* const>(rows_).subspan(first);
      const auto chunk = left.first(network.ChunkOf(left));
      scores_.resize(chunk.size() * actions_);
      d_scores_.assign(chunk.size() * actions_, 0.0F);
      values_.resize(chunk.size());
      d_values_.assign(chunk.size(), 0.0F);
      next_.resize(std::max(next_.size(), chunk.size() * memory_));
      network.Forward(chunk, scores_.data(), values ? values_.data() : nullptr, nullptr,
                      StatesAt(t) + first * memory_);
      loss(std::span<const std::size_t>(which_).subspan(first, chunk.size()), scores_.data(), values_.data(),
           d_scores_.data(), d_values_.data());
      network.Backward(d_scores_.data(), values ? d_values_.data() : nullptr,
                       d_next_.data() + first * memory_, next_.data());
      float* d = d_states_.data() + first * memory_;
      for (std::size_t i = 0; i < chunk.size() * memory_; ++i) d[i] += next_[i];
      first += chunk.size();
    }
  }
}

}  // namespace berth
