// A minibatch of transitions in host memory, as the replay buffer gives it and the Q-learners take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

struct TdOptions {
  bool double_q = false, dueling = false;
  int quantiles = 0;  // of the return of an action that are estimated; 0 = its mean alone
  // A batch's rewards are the goals (dqn/lambda_returns.hpp), nothing is bootstrapped, and what dueling takes
  // off the scores is their mean under softmax(Q / temperature).
  bool soft = false;
};

// Of one minibatch.
struct TdFigures {
  double loss = 0.0, mean_q = 0.0;
};

// [B] each.
struct TdBatch {
  explicit TdBatch(std::size_t rows)
      : observation(rows),
        next_observation(rows),
        mask(rows),
        next_mask(rows),
        action(rows),
        reward(rows),
        discount(rows),
        weight(rows, 1.0F) {}
  std::size_t rows() const { return action.size(); }

  // Rows [D]. Those of one observation that stand side by side share a forward pass.
  std::vector<const float*> observation, next_observation;
  std::vector<const std::uint8_t*> mask, next_mask;  // rows [A], 1 = legal, at least one
  std::vector<std::int32_t> action;                  // legal
  std::vector<float> reward, discount;               // n-step: the goal is reward + discount * V(next)
  std::vector<float> weight;                         // of the loss
  float temperature = 1.0F;
  // [B] of a network with a memory, how a row follows the one before it: empty = each row is a sequence
  // alone.
  enum class Joins : std::uint8_t { kNot, kSameState, kNextState };
  std::vector<Joins> joins;
};

}  // namespace berth
