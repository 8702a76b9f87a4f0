#include "agents/nn/fused/fused_dense.hpp"

#include "agents/nn/kernels/elementwise.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

const ParameterView& Find(std::span<const ParameterView> parameters, const std::string& name,
                          std::size_t size, std::size_t& offset) {
  offset = 0;
  for (const ParameterView& parameter : parameters) {
    if (parameter.name == name) {
      BERTH_CHECK(parameter.size == size, name, " has ", parameter.size, " values, not ", size);
      return parameter;
    }
    offset += parameter.size;
  }
  BERTH_CHECK(false, "no parameter ", name);
  return parameters.front();
}

}  // namespace

FusedDense::FusedDense(const std::string& name, std::span<const ParameterView> parameters, float* gradient,
                       double* multiply_adds, int inputs, int outputs, int first, int count)
    : inputs_(count >= 0 ? count : inputs),
      outputs_(outputs),
      ld_(inputs),
      whole_(count < 0),
      multiply_adds_(multiply_adds),
      packed_(inputs_, outputs) {
  std::size_t offset = 0;
  weight_ = Find(parameters, name + ".weight",
                 static_cast<std::size_t>(inputs) * static_cast<std::size_t>(outputs), offset)
                .values +
            first;
  weight_gradient_ = gradient + offset + first;
  bias_ = Find(parameters, name + ".bias", static_cast<std::size_t>(outputs), offset).values;
  bias_gradient_ = gradient + offset;
}

void FusedDense::Refresh(bool backward) {
  packed_.Pack(weight_, ld_, whole_ ? bias_ : nullptr, backward);
}

void FusedDense::Forward(const float* x, std::ptrdiff_t rows, float* y, kernels::Epilogue epilogue,
                         bool add) {
  Forward(x, inputs_, rows, y, outputs_, epilogue, add);
}

void FusedDense::Forward(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, float* y,
                         std::ptrdiff_t ldy, kernels::Epilogue epilogue, bool add) {
  Count(rows);
  if (outputs_ == 1 && !add && epilogue == kernels::Epilogue::kNone && ldy == 1) {
    kernels::ForwardOne(x, ldx, rows, inputs_, weight_, whole_ ? *bias_ : 0.0F, y);
  } else {
    packed_.Forward(x, ldx, rows, y, ldy, epilogue, add);
  }
}

void FusedDense::Backward(const float* x, std::ptrdiff_t ldx, const float* dy, std::ptrdiff_t ldy,
                          std::ptrdiff_t rows) {
  Count(rows);
  if (outputs_ == 1 && ldy == 1) {
    kernels::BackwardOne(x, ldx, rows, inputs_, dy, weight_gradient_);
  } else {
    kernels::BackwardWeight(x, ldx, inputs_, dy, ldy, outputs_, rows, weight_gradient_, ld_);
  }
  if (whole_) BackwardBias(dy, ldy, rows);
}

void FusedDense::BackwardBias(const float* dy, std::ptrdiff_t ldy, std::ptrdiff_t rows) {
  kernels::AddColumnSums(dy, ldy, rows, outputs_, bias_gradient_);
}

void FusedDense::BackwardInput(const float* dy, std::ptrdiff_t ldy, std::ptrdiff_t rows, float* dx,
                               std::ptrdiff_t ldx, bool add, const float* gate, kernels::Epilogue kind) {
  Count(rows);
  packed_.BackwardInput(dy, ldy, rows, dx, ldx, add, gate, kind);
}

void ActivationBackward(Activation activation, std::span<const float> y, std::span<float> dy) {
  if (activation == Activation::kRelu) {
    kernels::ReluBackward(y, dy);
  } else {
    kernels::TanhBackward(y, dy);
  }
}

}  // namespace berth
