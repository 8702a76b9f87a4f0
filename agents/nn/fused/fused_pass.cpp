#include "agents/nn/fused/fused_pass.hpp"

#include <algorithm>
#include <cstdint>

namespace berth {
namespace {

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

std::ptrdiff_t FusedPass::Count(RowOf rows) const {
  switch (rows) {
    case RowOf::kState:
      return states;
    case RowOf::kType:
      return states * types;
    case RowOf::kJob:
      return jobs;
    case RowOf::kPair:
      return jobs * types;
    case RowOf::kPoint:
      return states * points;
  }
  return 0;
}

std::ptrdiff_t FusedPass::First(RowOf rows, std::ptrdiff_t state) const {
  switch (rows) {
    case RowOf::kState:
      return state;
    case RowOf::kType:
      return state * types;
    case RowOf::kJob:
      return begin[U(state)];
    case RowOf::kPair:
      return begin[U(state)] * types;
    case RowOf::kPoint:
      return state * points;
  }
  return 0;
}

kernels::PairShape FusedPass::Shape(std::ptrdiff_t state, std::ptrdiff_t units) const {
  return {U(begin[U(state) + 1] - begin[U(state)]), U(types), U(units)};
}

void FusedPass::Fit(AlignedFloats& memory, std::ptrdiff_t size) {
  constexpr std::size_t kSlack = 64;
  if (memory.size() < U(size) + kSlack) memory.resize(U(size) + kSlack);
}

float* FusedPass::Out(ValueId value) {
  FusedValue& v = At(value);
  if (v.data == nullptr || v.data == v.memory.data()) {
    Fit(v.memory, Count(v.rows) * v.width);
    v.data = v.memory.data();
  }
  return v.data;
}

const float* FusedPass::GradientBefore(ValueId value) {
  FusedValue& v = At(value);
  const std::size_t size = U(Count(v.rows) * v.width);
  if (!v.gated && v.activation != Activation::kNone) {
    ActivationBackward(v.activation, {v.data, size}, {v.gradient.data(), size});
  }
  return v.gradient.data();
}

float* FusedPass::GradientOf(ValueId value) {
  FusedValue& v = At(value);
  AlignedFloats& memory = v.has_gradient ? scratch : v.gradient;
  Fit(memory, Count(v.rows) * v.width);
  return memory.data();
}

void FusedPass::Given(ValueId value) {
  FusedValue& v = At(value);
  const std::size_t size = v.has_gradient ? U(Count(v.rows) * v.width) : 0;
  for (std::size_t i = 0; i < size; ++i) v.gradient[i] += scratch[i];
  v.has_gradient = true;
}

void FusedPart::Forward(FusedPass& pass, float* y, bool add, kernels::Epilogue epilogue) {
  dense.Forward(pass.At(value).data, pass.Count(rows), y, epilogue, add);
}

void FusedPart::Backward(FusedPass& pass, const float* dy) {
  FusedValue& x = pass.At(value);
  const std::ptrdiff_t count = pass.Count(rows);
  dense.Backward(x.data, dense.inputs(), dy, dense.outputs(), count);
  if (!computed) return;
  FusedPass::Fit(x.gradient, count * x.width);
  dense.BackwardInput(dy, dense.outputs(), count, x.gradient.data(), dense.inputs(), x.has_gradient,
                      x.gated ? x.data : nullptr,
                      x.gated ? EpilogueOf(x.activation) : kernels::Epilogue::kNone);
  x.has_gradient = true;
}

std::vector<FusedPart> LayerViews::Parts(const NetworkStep& step) const {
  const LayerSpec& layer = net_.layers()[U(step.layer)];
  std::vector<FusedPart> parts;
  int first = 0;
  for (const ValueId input : step.inputs) {
    const NetworkValue& value = net_.values()[U(input)];
    const int count = step.inputs.size() == 1 ? -1 : value.width;
    parts.push_back({FusedDense(layer.name, parameters_, gradient_, multiply_adds_, layer.inputs,
                                layer.outputs, first, count),
                     input, value.rows,
                     input >= NetworkDescription::kInputs || input == NetworkDescription::state()});
    first += value.width;
  }
  return parts;
}

}  // namespace berth
