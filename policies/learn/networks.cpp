#include "policies/learn/networks.hpp"

#include <utility>

#include "policies/learn/steps.hpp"

namespace berth {
namespace {

#define BERTH_FORM(kind) Torch##kind,
constexpr decltype(&TorchDense) kForms[] = {BERTH_NETWORK_STEPS(BERTH_FORM)};
#undef BERTH_FORM

}  // namespace

Network::Network(NetworkDescription description, std::uint64_t seed) : description_(std::move(description)) {
  Stream stream(seed, Purpose::kInit);
  for (const LayerSpec& layer : description_.layers()) {
    layers_.push_back(register_module(layer.name, std::make_shared<DenseModule>(layer, stream)));
  }
}

NetworkOutput Network::Forward(const torch::Tensor& observation) {
  TorchRun run(description_, layers_, observation, fixed_shapes_);
  for (const NetworkStep& step : description_.steps()) {
    run.values[static_cast<std::size_t>(step.output)] = kForms[static_cast<int>(step.kind)](run, step);
  }
  return {run.At(description_.scores()), run.At(description_.value()).squeeze(-1)};
}

std::shared_ptr<Network> MakeNetwork(const std::string& spec, const ObservationLayout& layout,
                                     int num_actions, std::uint64_t seed, int outputs) {
  return std::make_shared<Network>(Describe(spec, layout, num_actions, outputs), seed);
}

void SetParameters(Network& network, const PolicyBundle& policy) {
  const torch::NoGradGuard no_grad;
  for (auto& item : network.named_parameters()) {
    const NamedArray& array = policy.Array(item.key());
    torch::Tensor& parameter = item.value();
    BERTH_CHECK(parameter.sizes() == torch::IntArrayRef(array.shape), item.key(), parameter.sizes());
    parameter.copy_(torch::tensor(array.values).view(array.shape));
  }
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
