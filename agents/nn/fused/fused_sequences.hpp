// Backpropagation through time for a network with a memory (Werbos 1990), truncated to sequences that begin
// at states which were stored as they were played (Kapturowski et al., ICLR 2019, "stored state"). Nothing of
// a pass is kept from step to step but the states: one walk forward computes them, which takes the memory's
// part of the network alone, and one walk backward computes each step anew, its loss and its gradient. Thread
// rule: one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "agents/nn/fused/fused_network.hpp"

namespace berth {

// Sequences in the order in which they are walked together: at step t those that are longer than t come
// first.
class SequenceOrder {
 public:
  // Sequence s is the steps begin[s] .. begin[s + 1] - 1 of all, at least one.
  void Set(std::span<const std::size_t> begin);
  std::size_t size() const { return order_.size(); }
  std::size_t longest() const { return order_.empty() ? 0 : Length(0); }
  std::size_t Active(std::size_t t) const;  // how many of the first are longer than t
  std::size_t StepOf(std::size_t k, std::size_t t) const { return begin_[order_[k]] + t; }
  std::size_t Length(std::size_t k) const { return begin_[order_[k] + 1] - begin_[order_[k]]; }

 private:
  std::vector<std::size_t> begin_, order_;
};

struct SequenceStep {
  const float* row;  // [D + M]; the state is read of a sequence's first
  bool passes;       // the next step is at what this one makes of the state; else at the same state
};

class FusedSequences {
 public:
  explicit FusedSequences(int memory, int actions)
      : memory_(static_cast<std::size_t>(memory)), actions_(static_cast<std::size_t>(actions)) {}
  // Of the steps that `which` names: their scores [n, A] and values [n] to the loss's gradients there, which
  // are 0 on entry.
  using Loss = std::function<void(std::span<const std::size_t> which, const float* scores,
                                  const float* values, float* d_scores, float* d_values)>;
  // Adds the gradient of the steps' losses to the network's. `values` false: no value is computed.
  void AddGradient(FusedNetwork& network, std::span<const SequenceStep> steps,
                   std::span<const std::size_t> begin, const Loss& loss, bool values = true);

 private:
  void Recall(FusedNetwork& network, std::span<const SequenceStep> steps);
  float* StatesAt(std::size_t t) { return states_.data() + t * order_.size() * memory_; }
  // The first `count` sequences' rows at step t.
  void Rows(std::span<const SequenceStep> steps, std::size_t t, std::size_t count);

  std::size_t memory_, actions_;
  SequenceOrder order_;
  std::vector<const float*> rows_;
  std::vector<std::size_t> which_;
  std::vector<float> states_, next_;  // [longest, S, M], [S, M]
  std::vector<float> d_states_, d_next_, scores_, values_, d_scores_, d_values_;
};

}  // namespace berth
