#include "policies/onnx_layers.hpp"

#include <array>
#include <span>

#include "policies/architecture.hpp"

namespace berth {
namespace {

constexpr float kMasked = -1e8F;  // not -inf: a softmax over it stays finite

}  // namespace

std::string OnnxLayers::Weight(const std::string& layer, std::int64_t first, std::int64_t n) const {
  const Dense dense = LoadDense(bundle_, layer);
  const std::array<std::int64_t, 2> shape = {n, dense.outputs};
  return graph_.Tensor(std::span<const float>(dense.Inputs(static_cast<int>(first)),
                                              static_cast<std::size_t>(n * dense.outputs)),
                       shape);
}

std::string OnnxLayers::Bias(const std::string& layer) const {
  const NamedArray& bias = bundle_.Array(layer + ".bias");
  return graph_.Tensor(bias.values, bias.shape);
}

std::string OnnxLayers::Linear(const std::string& layer, const std::string& input) const {
  const std::int64_t inputs = bundle_.Array(layer + ".weight").shape[1];
  return graph_.Node("Add", {graph_.Node("MatMul", {input, Weight(layer, 0, inputs)}), Bias(layer)});
}

std::string OnnxLayers::Activate(const std::string& input) const {
  return graph_.Node(activation_ == Activation::kRelu ? "Relu" : "Tanh", {input});
}

void OnnxLayers::Outputs(const std::string& scores, const std::string& value) const {
  graph_.Node("Where", {"action_mask", scores, graph_.Float(kMasked)}, {}, "scores");
  graph_.Node("Squeeze", {value, graph_.Integers({1})}, {}, "value");
  graph_.Output("scores", OnnxType::kFloat, {"batch", "actions"});
  graph_.Output("value", OnnxType::kFloat, {"batch"});
}

}  // namespace berth
