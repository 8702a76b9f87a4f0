#include "agents/cached_scores.hpp"

#include <algorithm>

namespace berth {

CachedScores::CachedScores(int envs, int actions)
    : actions_(static_cast<std::size_t>(actions)),
      slot_(static_cast<std::size_t>(envs), -1),
      scores_(slot_.size() * actions_) {}

void CachedScores::Invalidate() {
  std::fill(slot_.begin(), slot_.end(), -1);
}

std::span<const float> CachedScores::operator[](int env) const {
  return std::span<const float>(scores_).subspan(static_cast<std::size_t>(env) * actions_, actions_);
}

void CachedScores::Evaluate(const Replay& replay, QLearner& learner) {
  const std::span<const float> now = replay.NowObservation();
  const std::size_t width = now.size() / slot_.size();
  changed_.clear();
  rows_.clear();
  for (std::size_t i = 0; i < slot_.size(); ++i) {
    const std::int32_t slot = replay.NowSlot(static_cast<std::int32_t>(i));
    if (slot >= 0 && slot == slot_[i]) continue;
    slot_[i] = slot;
    changed_.push_back(i);
    rows_.push_back(now.data() + i * width);
  }
  if (rows_.empty()) return;
  if (!learner.RowsApart()) {
    // All of them, or what a resumed run computes would differ in the last bits from what is cached here.
    rows_.clear();
    for (std::size_t i = 0; i < slot_.size(); ++i) rows_.push_back(now.data() + i * width);
  }
  if (rows_.size() == slot_.size()) return learner.Scores(rows_, scores_);
  computed_.resize(rows_.size() * actions_);
  learner.Scores(rows_, computed_);
  for (std::size_t k = 0; k < changed_.size(); ++k) {
    std::copy_n(computed_.data() + k * actions_, actions_, scores_.data() + changed_[k] * actions_);
  }
}

}  // namespace berth
