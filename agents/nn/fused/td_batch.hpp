// A minibatch of transitions in host memory, as the replay buffer gives it and the Q-learners take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

struct TdOptions {
  bool double_q, dueling;
  int quantiles = 0;  // of the return of an action that are estimated; 0 = its mean alone
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

  std::vector<const float*> observation, next_observation;  // rows [D]
  std::vector<const std::uint8_t*> mask, next_mask;         // rows [A], 1 = legal, at least one
  std::vector<std::int32_t> action;                         // legal
  std::vector<float> reward, discount;                      // n-step: the goal is reward + discount * V(next)
  std::vector<float> weight;                                // of the loss
};

}  // namespace berth
