// A described network (policies/networks/) with a forward and a backward pass over the kernels, instead of
// LibTorch's operations and its autograd: the same functions of the same parameters, which stay LibTorch's.
// It has no structure but the description's steps; tests/learn/fused_test.cpp compares every gradient with
// autograd.
//
//   auto fused = MakeFused("mlp(hidden=64x64)", layout, num_actions, parameters);   // null: a step is
//   missing fused->Refresh();                                     // after every change of the parameters
//   while (!rows.empty()) {
//     const auto chunk = rows.first(fused->ChunkOf(rows));
//     fused->Forward(chunk, scores, values);
//     ...                                                 // the loss's gradients at scores and values
//     fused->Backward(d_scores, d_values);                // adds to gradient()
//     rows = rows.subspan(chunk.size());
//   }
//
// A network with a memory reads the state behind each observation, or where it is given apart; Recall
// computes what it is at the next point, and nothing else.
//
// No heap allocation once the largest chunk was seen. Same bits for the same calls; a row's scores and value
// do not depend on its neighbours. Thread rule: one thread at a time; several may read the same parameters.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/nn/fused/fused_pass.hpp"

namespace berth {

class FusedNetwork {
 public:
  // BERTH_CHECK: Takes(net).
  FusedNetwork(NetworkDescription net, std::span<const ParameterView> parameters);
  FusedNetwork(const FusedNetwork&) = delete;
  FusedNetwork& operator=(const FusedNetwork&) = delete;
  // Every step of it has a form here.
  static bool Takes(const NetworkDescription& net);

  void Refresh();
  // How many of the first of these rows (at least one) are best computed together.
  std::size_t ChunkOf(std::span<const float* const> rows) const;
  // Each of `rows` is an observation [D], behind it the memory's state [M] unless `states` [rows, M] has it;
  // they must stay until Backward. scores [rows, A] unmasked, values [rows]; null values: not wanted, nor
  // computed. `next` [rows, M]: the states of the next point; null: not wanted.
  void Forward(std::span<const float* const> rows, float* scores, float* values, float* next = nullptr,
               const float* states = nullptr);
  // `next` alone. BERTH_CHECK: there is a memory.
  void Recall(std::span<const float* const> rows, float* next, const float* states = nullptr);
  // Of the last Forward; d_scores [rows, A] and d_values [rows] are the loss's gradients there, d_next
  // [rows, M] that at the next point's states; null: 0. d_states [rows, M] gets those at `states`; null: not
  // wanted.
  void Backward(const float* d_scores, const float* d_values, const float* d_next = nullptr,
                float* d_states = nullptr);

  int observation_size() const { return net_.layout().size(); }
  std::size_t memory() const { return static_cast<std::size_t>(net_.memory()); }
  // In the order of the parameters, one after the other.
  std::span<float> gradient() { return gradient_; }
  // Multiply-adds of all passes so far: of products, nothing else.
  double multiply_adds() const { return multiply_adds_; }

 private:
  struct Stage {
    std::unique_ptr<FusedStep> step;
    bool over_pairs, for_scores,
        for_next;  // for_scores: not for the value alone; for_next: the memory reads it
  };
  // A part of the scores: numbers of pairs, or of the state in columns from `first` on.
  struct Piece {
    ValueId value;
    bool of_pairs;
    std::ptrdiff_t first;
  };
  // Present jobs that stand side by side in the queue of one state.
  struct Run {
    std::ptrdiff_t first, count, state, queue;
  };

  void AddStage(const NetworkStep& step, const LayerViews& views);
  void ChooseChunks();
  int Present(const float* row) const;
  void Prefetch(const float* row) const;
  void Gather(std::span<const float* const> rows, const float* states);
  std::vector<bool> WhatMakes(ValueId wanted) const;  // by value
  template <class F>
  void EachRange(const Piece& piece, const F& f) const;

  NetworkDescription net_;
  bool over_pairs_;
  std::vector<float> gradient_;
  double multiply_adds_ = 0.0;
  FusedPass pass_;
  std::vector<Stage> stages_;
  std::vector<Piece> pieces_;
  std::size_t limit_ = 0;  // of a chunk: pairs, or rows where there are none
  std::vector<Run> runs_;  // of the last Forward
};

// The fused form of the network that this spec names, or null where a step of it has none.
std::unique_ptr<FusedNetwork> MakeFused(const std::string& spec, const ObservationLayout& layout,
                                        int num_actions, std::span<const ParameterView> parameters);

}  // namespace berth
