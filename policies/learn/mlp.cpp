#include "policies/mlp.hpp"

#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "policies/learn/network_table.hpp"

namespace berth {
namespace {

class Mlp : public LayeredNetwork {
 public:
  Mlp(const MlpOptions& options, const std::vector<LayerSpec>& layers, std::uint64_t seed)
      : LayeredNetwork(layers, seed), activation_(options.activation) {
    for (const auto& [name, trunk] : {std::pair("actor", &actor_), std::pair("critic", &critic_)}) {
      for (std::size_t i = 0; i < options.hidden.size(); ++i) trunk->push_back(&Layer(Join(name, "_", i)));
      trunk->push_back(&Layer(Join(name, "_head")));
    }
  }

  NetworkOutput Forward(const torch::Tensor& observation) override {
    return {Run(actor_, observation), Run(critic_, observation).squeeze(-1)};
  }

 private:
  torch::Tensor Run(const std::vector<const DenseModule*>& trunk, torch::Tensor x) const {
    for (std::size_t i = 0; i + 1 < trunk.size(); ++i) x = Activate(activation_, trunk[i]->Forward(x));
    return trunk.back()->Forward(x);
  }

  Activation activation_;
  std::vector<const DenseModule*> actor_, critic_;
};

}  // namespace

std::shared_ptr<Network> MakeMlp(Params& params, const ObservationLayout& layout, int num_actions,
                                 std::uint64_t seed, int outputs) {
  const MlpOptions options = ReadMlpOptions(params);
  const std::vector<LayerSpec> layers = MlpArchitecture().layers(params, layout, num_actions);
  return std::make_shared<Mlp>(options, WithOutputs(layers, {"actor_head"}, outputs), seed);
}

}  // namespace berth
