#include "policies/learn/export.hpp"

#include "env/base/check.hpp"
#include "policies/architecture.hpp"

namespace berth {
namespace {

torch::Tensor OnCpu(const torch::Tensor& tensor) {
  return tensor.detach().to(torch::kCPU, torch::kFloat).contiguous();
}

std::vector<float> Values(const torch::Tensor& tensor) {
  const torch::Tensor cpu = OnCpu(tensor);
  return {cpu.data_ptr<float>(), cpu.data_ptr<float>() + cpu.numel()};
}

}  // namespace

PolicyBundle MakeBundle(Network& network, const BundleFacts& facts, std::span<const float> observation,
                        std::span<const std::uint8_t> mask, double* max_difference) {
  const auto size = static_cast<std::size_t>(network.description().row());
  const auto actions = static_cast<std::size_t>(facts.num_actions);
  const std::size_t count = observation.size() / size;
  BERTH_CHECK(count >= 1 && observation.size() == count * size && mask.size() == count * actions,
              observation.size(), " floats, ", mask.size(), " mask entries");
  PolicyBundle bundle;
  bundle.network = ResolveArchitecture(facts.network);
  bundle.layout = facts.layout;
  bundle.num_actions = facts.num_actions;
  bundle.mdp = facts.mdp;
  bundle.gpu_types = facts.gpu_types;
  bundle.provenance = facts.provenance;

  const auto parameters = network.named_parameters();
  for (const LayerSpec& layer : LayersOf(facts.network, facts.layout, facts.num_actions)) {
    for (const char* part : {".weight", ".bias"}) {
      const torch::Tensor* parameter = parameters.find(layer.name + part);
      BERTH_CHECK(parameter != nullptr, "the network has no ", layer.name, part);
      bundle.arrays.push_back({layer.name + part, parameter->sizes().vec(), Values(*parameter)});
    }
  }
  BERTH_CHECK(bundle.arrays.size() == parameters.size(), bundle.arrays.size(), " of ", parameters.size());

  const torch::NoGradGuard no_grad;
  const torch::Device device = parameters.begin()->value().device();
  const torch::Tensor rows =
      torch::from_blob(const_cast<float*>(observation.data()),
                       {static_cast<std::int64_t>(count), static_cast<std::int64_t>(size)});
  // On the CPU, wherever the network lives: a GPU may round its products to TF32.
  network.to(torch::kCPU);
  const NetworkOutput out = network.Forward(rows);
  network.to(device);
  bundle.examples.count = static_cast<int>(count);
  bundle.examples.observation.assign(observation.begin(), observation.end());
  bundle.examples.mask.assign(mask.begin(), mask.end());
  bundle.examples.scores = Values(out.scores);
  bundle.examples.value = Values(out.value);

  const double difference = ReplayExamples(bundle);
  if (max_difference != nullptr) *max_difference = difference;
  if (!(difference <= kBundleTolerance)) {
    throw Error(Join("export of ", bundle.network,
                     ": expected LibTorch and the torch-free network to agree within ",
                     static_cast<float>(kBundleTolerance), ", found a difference of ",
                     static_cast<float>(difference), " (weights that are not finite?)"));
  }
  return bundle;
}

}  // namespace berth
