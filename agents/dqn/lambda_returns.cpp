#include "agents/dqn/lambda_returns.hpp"

#include <algorithm>
#include <numeric>

#include "agents/nn/fused/masked_choice.hpp"
#include "env/base/check.hpp"

namespace berth {

void LambdaReturns::Work(const Replay& replay, QLearner& learner, double scale, double temperature) {
  temperature_ = temperature;
  const std::vector<std::int64_t> held = replay.Held();
  Evaluate(replay, learner, held);
  goal_.resize(replay.slots());
  instants_ = {{}, {0}};
  for (std::size_t env = 0; env < static_cast<std::size_t>(replay.envs()); ++env)
    WorkEnvironment(replay, held, env, scale);
  if (instants_.rows.empty()) throw Error(Replay::kNothingToLearnFrom);
  order_.clear();
  next_ = 0;
}

// Micro-actions of an instant share a slot: one forward pass for all of them.
void LambdaReturns::Evaluate(const Replay& replay, QLearner& learner, std::span<const std::int64_t> held) {
  rows_.clear();
  row_.assign(row_.size(), -1);
  const auto add = [&](std::int32_t slot) {
    if (slot < 0) return;
    const auto s = static_cast<std::size_t>(slot);
    if (s >= row_.size()) row_.resize(s + 1, -1);
    if (row_[s] >= 0) return;
    row_[s] = static_cast<std::int32_t>(rows_.size());
    rows_.push_back(replay.OfSlot(slot));
  };
  for (const std::int64_t step : held) {
    add(replay.At(step).observation);
    add(replay.At(step).final_observation);
  }
  scores_.resize(rows_.size() * actions_);
  values_.resize(rows_.size());
  learner.ScoresAndValues(rows_, scores_, values_);
}

LambdaReturns::Worth LambdaReturns::WorthOf(const Replay& replay, std::int32_t observation, std::int32_t mask,
                                            std::int32_t action) {
  const auto row = static_cast<std::size_t>(row_[static_cast<std::size_t>(observation)]);
  const auto scores = std::span<const float>(scores_).subspan(row * actions_, actions_);
  policy_.resize(actions_);
  const float mean = SoftMean(scores, {replay.MaskOfSlot(mask), actions_}, temperature_, policy_);
  return {options_.dueling ? values_[row] : mean,
          static_cast<double>(scores[static_cast<std::size_t>(action)]) - mean};
}

// `held` [steps + 1, N]: its last row is of now.
void LambdaReturns::WorkEnvironment(const Replay& replay, std::span<const std::int64_t> held, std::size_t env,
                                    double scale) {
  const auto envs = static_cast<std::size_t>(replay.envs());
  const std::size_t steps = held.size() / envs - 1;
  const Replay::Step now = replay.At(held[steps * envs + env]);
  double value = WorthOf(replay, now.observation, now.mask).value, returns = value;  // of what follows
  std::int32_t instant = -1;                                                         // its slot
  const std::size_t first = instants_.rows.size();
  const auto end_instant = [&] {
    const auto rows = static_cast<std::int64_t>(instants_.rows.size());
    if (instants_.begin.back() != rows) instants_.begin.push_back(rows);
  };
  for (std::size_t t = steps; t-- > 0;) {
    const std::int64_t flat = held[t * envs + env];
    const Replay::Step step = replay.At(flat);
    const Worth worth = WorthOf(replay, step.observation, step.mask, replay.Action(flat));
    if (step.truncated) {
      value = returns =
          step.final_observation < 0 ? 0.0 : WorthOf(replay, step.final_observation, step.final_mask).value;
    }
    const double lambda = step.discount < 1.0F ? options_.lambda : 1.0;
    returns = step.reward * scale +
              (step.terminated ? 0.0 : step.discount) * ((1.0 - lambda) * value + lambda * returns);
    value = worth.value;
    if (options_.sequence == 0 && step.observation != instant) end_instant();
    instant = step.observation;
    if (step.truncated && step.final_observation < 0) {
      returns = value;  // nothing is known of what followed
      continue;
    }
    goal_[static_cast<std::size_t>(flat)] = static_cast<float>(returns + options_.gap * worth.advantage);
    instants_.rows.push_back(flat);
  }
  if (options_.sequence > 0) return CutSequences(replay, first);
  end_instant();
}

// The environment's steps, `first` and later among the rows, stand from the last to the first.
void LambdaReturns::CutSequences(const Replay& replay, std::size_t first) {
  std::reverse(instants_.rows.begin() + static_cast<std::ptrdiff_t>(first), instants_.rows.end());
  int points = 0;
  for (std::size_t k = first; k < instants_.rows.size(); ++k) {
    const TdBatch::Joins joins =
        k == first ? TdBatch::Joins::kNot : replay.Follows(instants_.rows[k - 1], instants_.rows[k]);
    if (joins == TdBatch::Joins::kNextState) ++points;
    if (joins == TdBatch::Joins::kNot || points == options_.sequence) {
      if (k > first) instants_.begin.push_back(static_cast<std::int64_t>(k));
      points = 0;
    }
  }
  if (first < instants_.rows.size())
    instants_.begin.push_back(static_cast<std::int64_t>(instants_.rows.size()));
}

std::int64_t LambdaReturns::Next(Stream& stream) {
  if (next_ == order_.size()) {
    order_.clear();
    next_ = 0;
    for (const std::int64_t instant : Permutation(instants_.size(), stream)) {
      const auto k = static_cast<std::size_t>(instant);
      order_.insert(order_.end(), instants_.rows.begin() + instants_.begin[k],
                    instants_.rows.begin() + instants_.begin[k + 1]);
    }
  }
  return order_[next_++];
}

}  // namespace berth
