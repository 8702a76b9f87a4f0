// lambda-returns of everything that a replay buffer holds, worked out together before a training: what deep
// Q-learning regresses on without a target network (Daley & Amato 2019, "Reconciling lambda-returns with
// experience replay"; Gallici et al. 2024, "Simplifying deep temporal difference learning").
//
//   G_t = r_t + d_t ((1 - lambda_t) V(s_t+1) + lambda_t G_t+1),   lambda_t = 1 within an instant (d_t = 1)
//   V(s) = sum over a of pi(a | s) Q(s, a),   pi = softmax(Q / temperature)
//   goal of (s_t, a_t) = G_t + gap (Q(s_t, a_t) - V(s_t))
//
// V is expected Sarsa's (van Seijen et al. 2009). The last term is advantage learning's (Baird 1999;
// Bellemare et al. 2016, "Increasing the action gap"): what a training finds of an action's advantage is
// added to what those before it found, so that small differences are seen above the returns' noise. With gap
// = 1 the scores sum up advantages, as a policy gradient's do. The policy's mean of the term is 0: it is no
// part of V.
//
// Thread rule: one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/dqn/q_learner.hpp"
#include "agents/dqn/replay.hpp"
#include "agents/learner/minibatches.hpp"

namespace berth {

struct LambdaOptions {
  double lambda, gap;
  bool dueling;      // V is the network's value; otherwise the mean of its scores
  int sequence = 0;  // of a network with a memory: so many instants in a row stay together; 0 = has none
};

class LambdaReturns {
 public:
  LambdaReturns(const LambdaOptions& options, int actions)
      : options_(options), actions_(static_cast<std::size_t>(actions)) {}

  // Of the steps that `replay` holds now, their rewards times `scale`, by the present network and the policy
  // of `temperature`. Throws Error where no step can be used: truncated ones that leave nothing to choose are
  // left out.
  void Work(const Replay& replay, QLearner& learner, double scale, double temperature);
  float Goal(std::int64_t step) const { return goal_[static_cast<std::size_t>(step)]; }
  // The next step to learn from: those of an instant one after another, instants in random order, each once
  // before one comes again. With a memory sequences of instants, their steps in the order of time.
  std::int64_t Next(Stream& stream);

 private:
  struct Worth {
    double value, advantage;  // V of the state; Q - V of the action
  };
  void Evaluate(const Replay& replay, QLearner& learner, std::span<const std::int64_t> held);
  Worth WorthOf(const Replay& replay, std::int32_t observation, std::int32_t mask, std::int32_t action = 0);
  void CutSequences(const Replay& replay, std::size_t first);
  void WorkEnvironment(const Replay& replay, std::span<const std::int64_t> held, std::size_t env,
                       double scale);

  LambdaOptions options_;
  std::size_t actions_;
  double temperature_ = 1.0;            // of the present work
  std::vector<float> goal_;             // by step
  RowGroups instants_;                  // steps that see one observation, or sequences of them
  std::vector<std::int64_t> order_;     // the steps of this pass
  std::size_t next_ = 0;                // in order_
  std::vector<std::int32_t> row_;       // by slot of the observation: its row below, -1 = none
  std::vector<const float*> rows_;      // each observation once
  std::vector<float> scores_, values_;  // [rows, A], [rows]
  std::vector<float> policy_;           // [A]
};

}  // namespace berth
