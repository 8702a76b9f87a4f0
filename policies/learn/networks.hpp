// Networks that agents train, by name: `pair_scorer(width=64,layers=2)`, `mlp(hidden=64x64)`.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <span>

#include "env/base/spec.hpp"
#include "env/gym/observation.hpp"

namespace berth {

struct NetworkOutput {
  // [B, A * outputs] unmasked, those of one action together: logits for PPO, advantages or Q for DQN, or as
  // many quantiles of it.
  torch::Tensor scores;
  torch::Tensor value;  // [B]
};

// Thread rule: one thread at a time. Deterministic on CPU.
class Network : public torch::nn::Module {
 public:
  // observation [B, layout.size()] float32 on the module's device.
  virtual NetworkOutput Forward(const torch::Tensor& observation) = 0;
  // From now on shapes depend on the batch's size alone, not on what is in it: nothing is skipped, nothing is
  // read back from the device, so that a pass can be captured in a CUDA graph. The same numbers, to rounding.
  virtual void FixShapes() {}
};

struct NetworkInfo {
  const char* name;
  const char* summary;
  const char* source;
  bool any_size;  // accepts other Q and G than it was made for (permutation-equivariant)
  std::span<const ParamInfo> params;
  // Initial weights are drawn from Stream(seed, Purpose::kInit) only: orthogonal, gain sqrt(2) hidden, 0.01
  // scores, 1 value, zero biases (learners.md §2 row 8).
  std::shared_ptr<Network> (*make)(Params& params, const ObservationLayout& layout, int num_actions,
                                   std::uint64_t seed, int outputs);
};
std::span<const NetworkInfo> Networks();
// Throws Error with the nearest name. `outputs` numbers an action: more than 1 where a learner estimates a
// distribution; what is exported has one.
std::shared_ptr<Network> MakeNetwork(const std::string& spec, const ObservationLayout& layout,
                                     int num_actions, std::uint64_t seed, int outputs = 1);
// Into `mean`, made from the same spec with one output an action, the parameters with which its scores are
// the means over the outputs of `wide`: the last layer is linear, so they are means too.
void CopyMeanOutputs(Network& wide, Network& mean);
const NetworkInfo& FindNetwork(const std::string& name);

}  // namespace berth
