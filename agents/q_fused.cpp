// FusedQ on the memory of LibTorch's tensors.
#include <algorithm>

#include "agents/fused_q.hpp"
#include "agents/q_learner.hpp"
#include "env/check.hpp"
#include "policies/architecture.hpp"
#include "policies/mlp.hpp"

namespace berth {
namespace {

// Of the layers whose names begin with `prefix`, in the order of the specification.
std::vector<TrunkLayer> TrunkOf(const std::vector<LayerSpec>& specs, const std::string& prefix,
                                Network& network) {
  std::vector<TrunkLayer> layers;
  const float* first = network.parameters().front().data_ptr<float>();
  const auto named = network.named_parameters();
  const auto offset = [&](const std::string& name) {
    return static_cast<std::size_t>(named[name].data_ptr<float>() - first);
  };
  for (const LayerSpec& spec : specs) {
    if (spec.name.rfind(prefix, 0) != 0) continue;
    layers.push_back({spec.inputs, spec.outputs, offset(spec.name + ".weight"), offset(spec.name + ".bias")});
  }
  return layers;
}

const float* RowOf(Network& network) {
  return network.parameters().front().data_ptr<float>();
}

class MlpQ final : public QLearner {
 public:
  MlpQ(const FusedQ::Layers& layers, Network& online, Network& target, const TdOptions& options)
      : size_(static_cast<std::size_t>(layers.scores.front().inputs)),
        online_(RowOf(online)),
        target_(RowOf(target)),
        q_(layers, options) {
    for (const auto* trunk : {&layers.scores, &layers.value}) {
      if (trunk == &layers.value && !options.dueling) continue;
      for (const TrunkLayer& layer : *trunk) {
        used_ = std::max(used_, layer.bias + static_cast<std::size_t>(layer.outputs));
      }
    }
    OnlineChanged();
    TargetChanged();
  }

  std::int64_t used() const override { return static_cast<std::int64_t>(used_); }

  void Scores(std::span<const float> observation, std::span<float> scores) override {
    q_.Scores(observation.data(), static_cast<int>(observation.size() / size_), scores.data());
  }
  TdFigures Gradient(const TdBatch& batch, torch::Tensor& gradient, std::span<float> error) override {
    return q_.Gradient(batch, {gradient.data_ptr<float>(), static_cast<std::size_t>(gradient.numel())},
                       error);
  }
  void OnlineChanged() override { q_.SetOnline(online_); }
  void TargetChanged() override { q_.SetTarget(target_); }

 private:
  std::size_t size_, used_ = 0;
  const float *online_, *target_;
  FusedQ q_;
};

}  // namespace

std::unique_ptr<QLearner> MakeFusedQ(const AgentSetup& setup, Network& online, Network& target,
                                     const TdOptions& options) {
  const Spec spec = ParseSpec(setup.network);
  if (spec.name != "mlp" || !setup.device.is_cpu()) return nullptr;
  Params params(spec, FindArchitecture("mlp").params);
  const std::vector<LayerSpec> specs = LayersOf(setup.network, setup.layout, setup.num_actions);
  FusedQ::Layers layers;
  layers.activation = ReadMlpOptions(params).activation;
  layers.scores = TrunkOf(specs, "actor_", online);
  layers.value = TrunkOf(specs, "critic_", online);
  return std::make_unique<MlpQ>(layers, online, target, options);
}

}  // namespace berth
