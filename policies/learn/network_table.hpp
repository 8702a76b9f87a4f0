// The LibTorch side of the architectures, for networks.cpp.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>

#include "policies/learn/dense_module.hpp"
#include "policies/learn/networks.hpp"

namespace berth {

// The one list: X(architecture function of policies/architecture.hpp, factory defined in the network's own
// file).
#define BERTH_NETWORKS(X)                   \
  X(PairScorerArchitecture, MakePairScorer) \
  X(MlpArchitecture, MakeMlp)

#define BERTH_DECLARE(architecture, factory)                                                         \
  std::shared_ptr<Network> factory(Params& params, const ObservationLayout& layout, int num_actions, \
                                   std::uint64_t seed, int outputs);
BERTH_NETWORKS(BERTH_DECLARE)
#undef BERTH_DECLARE

// `layers` with `outputs` times as many outputs of the layers named `heads`, those that give the scores.
std::vector<LayerSpec> WithOutputs(std::vector<LayerSpec> layers, std::initializer_list<const char*> heads,
                                   int outputs);

// A network made of the layers that its architecture lists, each a sub-module of that name: what is trained
// is what a bundle holds, by construction.
class LayeredNetwork : public Network {
 protected:
  LayeredNetwork(const std::vector<LayerSpec>& layers, std::uint64_t seed);
  const DenseModule& Layer(const std::string& name) const;

 private:
  std::map<std::string, std::shared_ptr<DenseModule>> layers_;
};

}  // namespace berth
