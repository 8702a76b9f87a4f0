#include "agents/learner/acting_cache.hpp"

#include <algorithm>
#include <cstring>

#include "env/base/check.hpp"

namespace berth {

ActingCache::ActingCache(int envs, int observation_size, int actions, bool rows_apart, int memory)
    : envs_(static_cast<std::size_t>(envs)),
      size_(static_cast<std::size_t>(observation_size)),
      actions_(static_cast<std::size_t>(actions)),
      memory_(static_cast<std::size_t>(memory)),
      rows_apart_(rows_apart),
      observation_(envs_ * size_),
      scores_(envs_ * actions_),
      values_(envs_),
      next_(envs_ * memory_),
      some_scores_(envs_ * actions_),
      some_values_(envs_),
      some_next_(envs_ * memory_),
      changed_(envs_) {
  computed_.reserve(envs_);
  rows_.reserve(envs_);
}

std::span<const float> ActingCache::scores(int env) const {
  return std::span<const float>(scores_).subspan(static_cast<std::size_t>(env) * actions_, actions_);
}

std::span<const float> ActingCache::next(int env) const {
  return std::span<const float>(next_).subspan(static_cast<std::size_t>(env) * memory_, memory_);
}

std::span<const float> ActingCache::observation(int env) const {
  return std::span<const float>(observation_).subspan(static_cast<std::size_t>(env) * size_, size_);
}

void ActingCache::Evaluate(std::span<const float> observation, std::span<const std::uint8_t> fresh) {
  BERTH_CHECK(observation.size() == envs_ * size_ && (fresh.empty() || fresh.size() == envs_),
              observation.size(), " ", envs_ * size_);
  bool any = false;
  for (std::size_t i = 0; i < envs_; ++i) {
    const bool same = valid_ && !fresh.empty() && fresh[i] == 0;
    const float* row = observation.data() + i * size_;
    float* kept = observation_.data() + i * size_;
    changed_[i] = !same && (!valid_ || std::memcmp(row, kept, size_ * sizeof(float)) != 0);
    if (!changed_[i]) continue;
    std::copy_n(row, size_, kept);
    any = true;
  }
  valid_ = true;
  if (!any) return;
  computed_.clear();
  rows_.clear();
  for (std::size_t i = 0; i < envs_; ++i) {
    if (rows_apart_ && !changed_[i]) continue;
    computed_.push_back(i);
    rows_.push_back(observation_.data() + i * size_);
  }
  if (computed_.size() == envs_) return Compute(rows_, scores_, values_, next_);
  Compute(rows_, std::span<float>(some_scores_).first(rows_.size() * actions_),
          std::span<float>(some_values_).first(rows_.size()),
          std::span<float>(some_next_).first(rows_.size() * memory_));
  for (std::size_t k = 0; k < computed_.size(); ++k) {
    std::copy_n(some_scores_.data() + k * actions_, actions_, scores_.data() + computed_[k] * actions_);
    values_[computed_[k]] = some_values_[k];
    std::copy_n(some_next_.data() + k * memory_, memory_, next_.data() + computed_[k] * memory_);
  }
}

}  // namespace berth
