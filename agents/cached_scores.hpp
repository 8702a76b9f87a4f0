// The scores of the observations not yet acted on. Within one instant Berth's micro-actions change only the
// mask: the replay buffer then keeps the same observation, and the scores of before stand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/q_learner.hpp"
#include "agents/replay.hpp"

namespace berth {

class CachedScores {
 public:
  CachedScores(int envs, int actions);
  // At every step, or Invalidate: slots are told apart by number, and a number is given again.
  void Evaluate(const Replay& replay, QLearner& learner);
  void Invalidate();                                 // the parameters changed
  std::span<const float> operator[](int env) const;  // [A]

 private:
  std::size_t actions_;
  std::vector<std::int32_t> slot_;    // [N] of the observation scored last, -1 = none
  std::vector<float> scores_;         // [N, A]
  std::vector<std::size_t> changed_;  // environments
  std::vector<const float*> rows_;    // their observations
  std::vector<float> computed_;       // their scores
};

}  // namespace berth
