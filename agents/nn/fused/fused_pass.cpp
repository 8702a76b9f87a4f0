#include "agents/nn/fused/fused_pass.hpp"

#include <algorithm>
#include <cstdint>

namespace berth {
namespace {

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

std::ptrdiff_t FusedPass::Count(Rows rows) const {
  switch (rows) {
    case Rows::kState:
      return states;
    case Rows::kType:
      return states * types;
    case Rows::kJob:
      return jobs;
    case Rows::kPair:
      return jobs * types;
  }
  return 0;
}

kernels::PairShape FusedPass::Shape(std::ptrdiff_t state, std::ptrdiff_t units) const {
  return {U(begin[U(state) + 1] - begin[U(state)]), U(types), U(units)};
}

void FusedPass::Fit(AlignedFloats& memory, std::ptrdiff_t size) {
  if (memory.size() < U(size)) memory.resize(U(size));
}

float* FusedPass::Out(Value value) {
  FusedValue& v = At(value);
  if (v.data == nullptr || v.data == v.memory.data()) {
    Fit(v.memory, Count(v.rows) * v.width);
    v.data = v.memory.data();
  }
  return v.data;
}

const float* FusedPass::GradientBefore(Value value) {
  FusedValue& v = At(value);
  const std::size_t size = U(Count(v.rows) * v.width);
  if (!v.gated && v.activation != Activation::kNone) {
    ActivationBackward(v.activation, {v.data, size}, {v.gradient.data(), size});
  }
  return v.gradient.data();
}

float* FusedPass::GradientOf(Value value) {
  FusedValue& v = At(value);
  AlignedFloats& memory = v.has_gradient ? scratch : v.gradient;
  Fit(memory, Count(v.rows) * v.width);
  return memory.data();
}

void FusedPass::Given(Value value) {
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

FusedDense LayerViews::Make(const NetworkStep& step, int first, int count) const {
  const LayerSpec& layer = net_.layers()[U(step.layer)];
  return FusedDense(layer.name, parameters_, gradient_, multiply_adds_, layer.inputs, layer.outputs, first,
                    count);
}

std::vector<FusedPart> LayerViews::Parts(const NetworkStep& step) const {
  std::vector<FusedPart> parts;
  int first = 0;
  for (const Value input : step.inputs) {
    const NetworkValue& value = net_.values()[U(input)];
    parts.push_back(
        {Make(step, first, value.width), input, value.rows, input >= NetworkDescription::kInputs});
    first += value.width;
  }
  return parts;
}

}  // namespace berth
