// Networks that agents train: the architectures of policies/architecture.hpp as LibTorch modules.
//
//   const std::shared_ptr<Network> network = MakeNetwork("pair_scorer(width=64)", layout, num_actions, seed);
//   const NetworkOutput out = network->Forward(observation);
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "policies/architecture.hpp"
#include "policies/bundle.hpp"
#include "policies/learn/dense_module.hpp"

namespace berth {

struct NetworkOutput {
  // [B, A * outputs] unmasked, those of one action together: logits for PPO, advantages or Q for DQN, or as
  // many quantiles of it.
  torch::Tensor scores;
  torch::Tensor value;      // [B]
  torch::Tensor next = {};  // [B, M] the memory at the next point; undefined without one
};

// A module of its description's layers, each a sub-module of that name: what is trained is what a bundle
// holds. Thread rule: one thread at a time. Deterministic on CPU.
class Network : public torch::nn::Module {
 public:
  // Initial weights are drawn from Stream(seed, Purpose::kInit) only, layer by layer: orthogonal times the
  // layer's gain, zero biases.
  Network(NetworkDescription description, std::uint64_t seed);

  // observation [B, description().row()] float32 on the module's device: with a memory its state behind it.
  NetworkOutput Forward(const torch::Tensor& observation);
  // From now on shapes depend on the batch's size alone, not on what is in it: nothing is skipped, nothing is
  // read back from the device, so that a pass can be captured in a CUDA graph. The same numbers, to rounding.
  void FixShapes() { fixed_shapes_ = true; }
  const NetworkDescription& description() const { return description_; }

 private:
  NetworkDescription description_;
  bool fixed_shapes_ = false;
  std::vector<std::shared_ptr<DenseModule>> layers_;
};

// Throws Error with the nearest name. `outputs` numbers an action: more than 1 where a learner estimates a
// distribution; what is exported has one.
std::shared_ptr<Network> MakeNetwork(const std::string& spec, const ObservationLayout& layout,
                                     int num_actions, std::uint64_t seed, int outputs = 1);
// The weights of a policy of the same architecture, copied; BERTH_CHECK: as many of each as the network has.
void SetParameters(Network& network, const PolicyBundle& policy);
// Into `mean`, made from the same spec with one output an action, the parameters with which its scores are
// the means over the outputs of `wide`: the last layer is linear, so they are means too.
void CopyMeanOutputs(Network& wide, Network& mean);
// Into `wide`, made from WidenArchitecture of the members' spec, the parameters with which its scores are
// `scale` times the sum of the members', and its value their mean: their hidden units stand side by side,
// unconnected.
void CopySideBySide(std::span<const std::shared_ptr<Network>> members, double scale, Network& wide);

}  // namespace berth
