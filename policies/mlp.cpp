#include "policies/mlp.hpp"

#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "policies/architecture.hpp"
#include "policies/onnx_layers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"hidden", "64x64", "units of the hidden layers, 1 to 4096 each, at most 8 layers"},
    {"activation", "tanh", "tanh or relu"},
};

std::vector<LayerSpec> Layers(Params& params, const ObservationLayout& layout, int num_actions) {
  const MlpOptions options = ReadMlpOptions(params);
  std::vector<LayerSpec> layers;
  const auto trunk = [&](const std::string& name, int outputs, double gain) {
    int inputs = layout.size();
    for (std::size_t i = 0; i < options.hidden.size(); ++i) {
      layers.push_back({Join(name, "_", i), inputs, options.hidden[i], std::sqrt(2.0)});
      inputs = options.hidden[i];
    }
    layers.push_back({name + "_head", inputs, outputs, gain});
  };
  trunk("actor", num_actions, 0.01);
  trunk("critic", 1, 1.0);
  return layers;
}

class FrozenMlp : public FrozenNetwork {
 public:
  FrozenMlp(const MlpOptions& options, const PolicyBundle& bundle)
      : activation_(options.activation), layout_(bundle.layout), num_actions_(bundle.num_actions) {
    for (const auto& [name, trunk] : {std::pair("actor", &actor_), std::pair("critic", &critic_)}) {
      for (std::size_t i = 0; i < options.hidden.size(); ++i) {
        trunk->push_back(LoadDense(bundle, Join(name, "_", i)));
      }
      trunk->push_back(LoadDense(bundle, Join(name, "_head")));
    }
    for (int units : options.hidden) {
      x_.resize(std::max(x_.size(), U(units)));
      y_.resize(x_.size());
    }
  }

  float Evaluate(std::span<const float> observation, const ObservationLayout& layout,
                 std::span<float> scores) override {
    BERTH_CHECK(
        layout == layout_ && observation.size() == U(layout.size()) && scores.size() == U(num_actions_),
        observation.size(), " floats, ", scores.size(), " scores");
    Run(actor_, observation, scores.data());
    float value = 0.0F;
    Run(critic_, observation, &value);
    return value;
  }

 private:
  void Run(const std::vector<Dense>& trunk, std::span<const float> observation, float* out) {
    const float* input = observation.data();
    for (std::size_t i = 0; i + 1 < trunk.size(); ++i) {
      trunk[i].Forward(input, 1, y_.data());
      Activate(activation_, std::span<float>(y_).first(U(trunk[i].outputs)));
      std::swap(x_, y_);
      input = x_.data();
    }
    trunk.back().Forward(input, 1, out);
  }

  Activation activation_;
  ObservationLayout layout_;
  int num_actions_;
  std::vector<Dense> actor_, critic_;
  std::vector<float> x_, y_;  // [greatest hidden layer]
};

std::unique_ptr<FrozenNetwork> MakeFrozen(Params& params, const PolicyBundle& bundle) {
  return std::make_unique<FrozenMlp>(ReadMlpOptions(params), bundle);
}

// Inputs observation [B, D], action_mask [B, A] bool.
void Onnx(Params& params, const PolicyBundle& bundle, OnnxGraph& graph) {
  const MlpOptions options = ReadMlpOptions(params);
  const OnnxLayers layers(bundle, options.activation, graph);
  graph.Input("observation", OnnxType::kFloat, {"batch", Join(bundle.layout.size())});
  graph.Input("action_mask", OnnxType::kBool, {"batch", Join(bundle.num_actions)});
  const auto trunk = [&](const std::string& name) {
    std::string x = "observation";
    for (std::size_t i = 0; i < options.hidden.size(); ++i) x = layers.Hidden(Join(name, "_", i), x);
    return layers.Linear(name + "_head", x);
  };
  const std::string scores = trunk("actor");
  layers.Outputs(scores, trunk("critic"));
}

}  // namespace

MlpOptions ReadMlpOptions(Params& params) {
  MlpOptions options;
  const std::string text = params.Text("hidden");
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const long long units =
        ParseInteger(std::string_view(text).substr(begin, end - begin), "mlp: parameter 'hidden'");
    if (units < 1 || units > 4096) {
      throw Error(Join("mlp: parameter 'hidden': expected layers of 1 to 4096 units such as 64x64, found '",
                       text, "'"));
    }
    options.hidden.push_back(static_cast<int>(units));
    begin = end + 1;
  }
  if (options.hidden.size() > 8) {
    throw Error(Join("mlp: parameter 'hidden': expected at most 8 layers, found ", options.hidden.size()));
  }
  options.activation =
      params.Choice("activation", {"tanh", "relu"}) == 0 ? Activation::kTanh : Activation::kRelu;
  return options;
}

ArchitectureInfo MlpArchitecture() {
  return {
      "mlp",
      "flat perceptron over the whole observation, actor and critic apart; bound to its queue and cluster",
      "Stable-Baselines3 MlpPolicy",
      /*any_size=*/false,
      kParams,
      Layers,
      MakeFrozen,
      Onnx};
}

}  // namespace berth
