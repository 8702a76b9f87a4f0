#include "policies/inference.hpp"

#include "env/base/check.hpp"
#include "policies/architecture.hpp"

namespace berth {

Dense LoadDense(const PolicyBundle& bundle, const std::string& name) {
  const NamedArray& weight = bundle.Array(name + ".weight");
  const NamedArray& bias = bundle.Array(name + ".bias");
  Dense dense;
  dense.outputs = static_cast<int>(weight.shape[0]);
  dense.inputs = static_cast<int>(weight.shape[1]);
  dense.bias = bias.values;
  dense.weight.resize(weight.values.size());
  const std::size_t inputs = static_cast<std::size_t>(dense.inputs), outputs = dense.bias.size();
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t i = 0; i < inputs; ++i) dense.weight[i * outputs + o] = weight.values[o * inputs + i];
  }
  return dense;
}

std::unique_ptr<FrozenNetwork> Freeze(const PolicyBundle& bundle) {
  const std::vector<LayerSpec> layers = LayersOf(bundle.network, bundle.layout, bundle.num_actions);
  if (bundle.arrays.size() != 2 * layers.size()) {
    throw Error(Join("policy: expected the ", 2 * layers.size(), " arrays of ", bundle.network, ", found ",
                     bundle.arrays.size()));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerSpec& layer = layers[i];
    const NamedArray& weight = bundle.arrays[2 * i];
    const NamedArray& bias = bundle.arrays[2 * i + 1];
    const std::vector<std::int64_t> wanted = {layer.outputs, layer.inputs};
    const auto outputs = static_cast<std::size_t>(layer.outputs),
               inputs = static_cast<std::size_t>(layer.inputs);
    if (weight.name != layer.name + ".weight" || bias.name != layer.name + ".bias" ||
        weight.shape != wanted || weight.values.size() != outputs * inputs || bias.values.size() != outputs) {
      throw Error(Join("policy: expected layer '", layer.name, "' of ", layer.outputs, " x ", layer.inputs,
                       " as ", bundle.network, " has it, found '", weight.name, "' of ", weight.values.size(),
                       " weights and ", bias.values.size(), " biases"));
    }
  }
  const Spec spec = ParseSpec(bundle.network);
  const ArchitectureInfo& info = FindArchitecture(spec.name);
  Params params(spec, info.params);
  std::unique_ptr<FrozenNetwork> network = info.freeze(params, bundle);
  params.CheckAllRead();
  return network;
}

}  // namespace berth
