// Deep Q-learning with a perceptron by hand: the loss of Mnih et al. 2015 and its gradient on plain memory,
// double (van Hasselt et al. 2016, eq. 4) and dueling (Wang et al. 2016, eq. 9) as options. Autograd
// (q_autograd.cpp) is its oracle. Thread rule: one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/dense_trunk.hpp"
#include "agents/td_batch.hpp"

namespace berth {

class FusedQ {
 public:
  struct Layers {
    std::vector<TrunkLayer> scores, value;  // value: with dueling heads alone
    Activation activation = Activation::kRelu;
  };
  FusedQ(const Layers& layers, const TdOptions& options);

  // After every change of the parameters, a row as TrunkLayer has it.
  void SetOnline(const float* parameters);
  void SetTarget(const float* parameters);

  // [rows, D] to [rows, A]
  void Scores(const float* observation, int rows, float* scores);
  // As QLearner::Gradient; `gradient` is a row like the parameters.
  TdFigures Gradient(const TdBatch& batch, std::span<float> gradient, std::span<float> error);

 private:
  struct Net {
    DenseTrunk scores, value;
  };
  // [A] row of a matrix of scores or masks.
  template <class T>
  std::span<T> Row(T* matrix, std::size_t row) const {
    return {matrix + row * actions_, actions_};
  }
  void Goals(const TdBatch& batch);
  TdFigures Plain(const TdBatch& batch, std::span<float> gradient, std::span<float> error);
  TdFigures Dueling(const TdBatch& batch, std::span<float> gradient, std::span<float> error);

  TdOptions options_;
  std::size_t actions_;
  Net online_, target_;
  const float* parameters_ = nullptr;  // online
  std::vector<float> goal_;            // [B]
  // [B, A]; [B]; [B, units] at the last hidden layer
  kernels::AlignedFloats scores_, other_, value_, d_value_, d_hidden_;
};

}  // namespace berth
