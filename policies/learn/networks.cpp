#include "policies/learn/networks.hpp"

#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "policies/learn/network_table.hpp"

namespace berth {

LayeredNetwork::LayeredNetwork(const std::vector<LayerSpec>& layers, std::uint64_t seed) {
  Stream stream(seed, Purpose::kInit);
  for (const LayerSpec& layer : layers) {
    layers_[layer.name] = register_module(layer.name, std::make_shared<DenseModule>(layer, stream));
  }
}

std::vector<LayerSpec> WithOutputs(std::vector<LayerSpec> layers, std::initializer_list<const char*> heads,
                                   int outputs) {
  for (LayerSpec& layer : layers) {
    for (const char* head : heads) {
      if (layer.name == head) layer.outputs *= outputs;
    }
  }
  return layers;
}

const DenseModule& LayeredNetwork::Layer(const std::string& name) const {
  const auto it = layers_.find(name);
  BERTH_CHECK(it != layers_.end(), "no layer ", name);
  return *it->second;
}

std::span<const NetworkInfo> Networks() {
  const auto row = [](const ArchitectureInfo& info, auto* make) {
    return NetworkInfo{info.name, info.summary, info.source, info.any_size, info.params, make};
  };
#define BERTH_ROW(architecture, factory) row(architecture(), factory),
  static const NetworkInfo kTable[] = {BERTH_NETWORKS(BERTH_ROW)};
#undef BERTH_ROW
  return kTable;
}

const NetworkInfo& FindNetwork(const std::string& name) {
  FindArchitecture(name);  // the error with the nearest name
  for (const NetworkInfo& info : Networks()) {
    if (name == info.name) return info;
  }
  throw Error(Join("network '", name, "' can be run but not trained"));
}

std::shared_ptr<Network> MakeNetwork(const std::string& text, const ObservationLayout& layout,
                                     int num_actions, std::uint64_t seed, int outputs) {
  const Spec spec = ParseSpec(text);
  const NetworkInfo& info = FindNetwork(spec.name);
  Params params(spec, info.params);
  std::shared_ptr<Network> network = info.make(params, layout, num_actions, seed, outputs);
  params.CheckAllRead();
  return network;
}

void CopyMeanOutputs(Network& wide, Network& mean) {
  const torch::NoGradGuard no_grad;
  const auto from = wide.named_parameters();
  for (auto& item : mean.named_parameters()) {
    const torch::Tensor& source = from[item.key()];
    torch::Tensor& target = item.value();
    const std::int64_t outputs = source.size(0) / target.size(0);
    std::vector<std::int64_t> shape = target.sizes().vec();
    shape.insert(shape.begin() + 1, outputs);
    target.copy_(outputs == 1 ? source : source.view(shape).mean(1));
  }
}

}  // namespace berth
