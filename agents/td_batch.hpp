// A minibatch of transitions in host memory, as the replay buffer gives it and the Q-learners take it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

struct TdOptions {
  bool double_q, dueling;
};

// Of one minibatch.
struct TdFigures {
  double loss = 0.0, mean_q = 0.0;
};

struct TdBatch {
  TdBatch(int rows_, int observation_size, int actions)
      : rows(rows_),
        observation(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(observation_size)),
        next_observation(observation.size()),
        mask(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(actions)),
        next_mask(mask.size()),
        action(static_cast<std::size_t>(rows_)),
        reward(action.size()),
        discount(action.size()),
        weight(action.size(), 1.0F) {}

  int rows;                                          // B
  std::vector<float> observation, next_observation;  // [B, D]
  std::vector<std::uint8_t> mask, next_mask;         // [B, A] 1 = legal, at least one a row
  std::vector<std::int32_t> action;                  // [B] legal
  std::vector<float> reward, discount;               // [B] n-step; goal = reward + discount * V(next)
  std::vector<float> weight;                         // [B] of the loss
};

}  // namespace berth
