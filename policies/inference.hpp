// Networks without LibTorch: what a frozen policy runs on, step by step as its architecture describes it.
// Same bits on every call, thread and cache size; no heap allocation after the first call of a size.
//
//   const std::unique_ptr<FrozenNetwork> network = Freeze(bundle);
//   const float value = network->Evaluate(observation, bundle.layout, scores);
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "env/gym/observation.hpp"
#include "policies/bundle.hpp"
#include "policies/networks/forms.hpp"

namespace berth {

// Thread rule: one thread at a time (it owns scratch memory).
class FrozenNetwork {
 public:
  // BERTH_CHECK: the bundle's arrays are the description's (Freeze looks before).
  FrozenNetwork(NetworkDescription net, const PolicyBundle& bundle);

  // observation [layout.size()], scores [A] unmasked, A = layout.q * layout.g (+ 1 with done); gives back the
  // value. `layout` has the bundle's channel counts, and its Q and G too unless the architecture takes any
  // size. Scores of rows without a job are 0.
  //
  // Of a network with a memory `state` [memory()] is what it is at this point, empty = zeros, those of an
  // episode's begin; `next` [memory()] gets what it is at the next one, empty = not wanted.
  float Evaluate(std::span<const float> observation, const ObservationLayout& layout, std::span<float> scores,
                 std::span<const float> state = {}, std::span<float> next = {});
  int memory() const { return net_.memory(); }

 private:
  void ShareMemory();
  void MakeRoom(const ObservationLayout& layout);
  void Read(std::span<const float> observation);
  void RunOverPairs(std::size_t first, std::size_t last);

  NetworkDescription net_;
  bool any_size_, over_jobs_;
  std::size_t widest_ = 1;  // floats of a pair
  std::size_t actions_ = 0;
  std::size_t block_ = 1;  // jobs whose pairs are computed together
  PlainRun run_;
  std::vector<PlainStep> steps_;
  std::vector<bool> over_pairs_;  // by step
  std::vector<float> jobs_;       // [n, Fj] rows of the present jobs
  std::vector<float> begin_;      // [memory()] zeros
  // Values over pairs that do not live at the same time share memory, which thereby stays in the cache.
  std::vector<std::size_t> memory_of_;  // by value
  std::vector<std::vector<float>> memory_;
};

// Throws Error where the arrays are not those of the architecture.
std::unique_ptr<FrozenNetwork> Freeze(const PolicyBundle& bundle);

}  // namespace berth
