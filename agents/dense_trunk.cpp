#include "agents/dense_trunk.hpp"

#include <algorithm>
#include <utility>

#include "agents/kernels/elementwise.hpp"
#include "env/check.hpp"

namespace berth {
namespace {

std::size_t Area(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

void Reserve(kernels::AlignedFloats& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

}  // namespace

DenseTrunk::DenseTrunk(std::vector<TrunkLayer> layers, Activation activation)
    : layers_(std::move(layers)), activation_(activation), hidden_(layers_.size() - 1) {
  BERTH_CHECK(!layers_.empty(), "no layers");
  for (const TrunkLayer& layer : layers_) packed_.emplace_back(layer.inputs, layer.outputs);
}

void DenseTrunk::Pack(const float* parameters, bool backward) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const TrunkLayer& layer = layers_[l];
    // Nobody asks for the gradient at the observations.
    packed_[l].Pack(parameters + layer.weight, layer.inputs, parameters + layer.bias, backward && l > 0);
  }
}

const float* DenseTrunk::Hidden(const float* x, int rows) {
  const kernels::Epilogue epilogue =
      activation_ == Activation::kRelu ? kernels::Epilogue::kRelu : kernels::Epilogue::kTanh;
  for (std::size_t l = 0; l + 1 < layers_.size(); ++l) {
    const int outputs = layers_[l].outputs;
    Reserve(hidden_[l], Area(rows, outputs));
    packed_[l].Forward(x, layers_[l].inputs, rows, hidden_[l].data(), outputs, epilogue);
    x = hidden_[l].data();
  }
  return x;
}

void DenseTrunk::Forward(const float* x, int rows, float* y) {
  packed_.back().Forward(Hidden(x, rows), last().inputs, rows, y, last().outputs);
}

void DenseTrunk::BackwardLayer(std::size_t l, const float* x, int rows, const float* dy, float* dx,
                               float* gradient) const {
  const TrunkLayer& layer = layers_[l];
  kernels::BackwardWeight(x, layer.inputs, layer.inputs, dy, layer.outputs, layer.outputs, rows,
                          gradient + layer.weight, layer.inputs);
  kernels::AddColumnSums(dy, layer.outputs, rows, layer.outputs, gradient + layer.bias);
  if (dx != nullptr) packed_[l].BackwardInput(dy, layer.outputs, rows, dx, layer.inputs, /*add=*/false);
}

void DenseTrunk::Backward(const float* x, int rows, const float* dy, float* gradient) {
  const std::size_t l = layers_.size() - 1;
  if (l == 0) return BackwardLayer(l, x, rows, dy, nullptr, gradient);
  Reserve(d_above_, Area(rows, last().inputs));
  BackwardLayer(l, hidden_[l - 1].data(), rows, dy, d_above_.data(), gradient);
  BackwardHidden(x, rows, d_above_.data(), gradient);
}

void DenseTrunk::BackwardHidden(const float* x, int rows, float* dh, float* gradient) {
  for (std::size_t l = layers_.size() - 1; l-- > 0;) {
    const std::size_t size = Area(rows, layers_[l].outputs);
    const std::span<const float> y(hidden_[l].data(), size);
    const std::span<float> dy(dh, size);
    activation_ == Activation::kRelu ? kernels::ReluBackward(y, dy) : kernels::TanhBackward(y, dy);
    if (l == 0) return BackwardLayer(l, x, rows, dh, nullptr, gradient);
    // Two buffers in turn: `dh` may be the first of them.
    kernels::AlignedFloats& below = dh == d_below_.data() ? d_above_ : d_below_;
    Reserve(below, Area(rows, layers_[l].inputs));
    BackwardLayer(l, hidden_[l - 1].data(), rows, dh, below.data(), gradient);
    dh = below.data();
  }
}

}  // namespace berth
