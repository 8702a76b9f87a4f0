// Deep Q-learning with written-out passes: the loss of Mnih et al. 2015 and its gradient on plain memory,
// double (van Hasselt et al. 2016, eq. 4) and dueling (Wang et al. 2016, eq. 9) as options. Autograd
// (agents/dqn/q_autograd.cpp) is its oracle. Thread rule: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agents/nn/fused/fused_network.hpp"
#include "agents/nn/fused/fused_sequences.hpp"
#include "agents/nn/fused/td_batch.hpp"

namespace berth {

class FusedQ {
 public:
  FusedQ(std::unique_ptr<FusedNetwork> online, std::unique_ptr<FusedNetwork> target, int actions,
         const TdOptions& options);

  void OnlineChanged() { online_->Refresh(); }
  void TargetChanged() { target_->Refresh(); }
  // Rows [D] to [rows, A]: Q, or with dueling heads what differs from Q by one number a row; and to values
  // [rows], and a memory's states at the next point to next [rows, M]; null: not wanted.
  void Scores(std::span<const float* const> rows, float* scores, float* values = nullptr,
              float* next = nullptr);
  // The weighted mean Huber loss (threshold 1) of Q(observation, action) against the goals. Its gradient is
  // in gradient() until the next call, Q - goal in `error` [B].
  TdFigures Gradient(const TdBatch& batch, std::span<float> error);
  std::span<float> gradient() { return online_->gradient(); }
  double multiply_adds() const { return online_->multiply_adds() + target_->multiply_adds(); }

 private:
  struct Sums {
    double loss = 0.0, q = 0.0;
  };
  float* Values() { return options_.dueling ? value_.data() : nullptr; }
  void Goals(const TdBatch& batch);
  // What dueling takes off a row's scores, and in `share_` [A] how much of it each score is.
  float Baseline(std::span<const float> scores, std::span<const std::uint8_t> mask);
  // Adds the losses of an observation's rows, their errors and slopes.
  void AddLosses(const TdBatch& batch, std::size_t head, std::span<const float> scores, float value,
                 std::span<float> d_scores, float& d_value, std::span<float> error, Sums& sums);
  void AddSequences(const TdBatch& batch, std::span<float> error, Sums& sums);

  std::unique_ptr<FusedNetwork> online_, target_;
  std::size_t actions_;
  TdOptions options_;
  std::vector<const float*> heads_;  // the batch's observations, side by side each once
  std::vector<std::size_t> end_;     // [heads] the end of its rows
  std::vector<float> goal_;          // [B]
  double temperature_ = 1.0;         // of the batch
  std::vector<float> share_;         // [A]
  FusedSequences sequences_;
  std::vector<SequenceStep> steps_;  // the heads, where the batch joins rows
  std::vector<std::size_t> sequences_begin_;
  std::vector<float> scores_, other_, value_, d_value_;  // [B, A] twice, [B] twice
};

}  // namespace berth
