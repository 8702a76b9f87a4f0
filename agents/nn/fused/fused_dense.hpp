// One dense layer of a fused network: LibTorch's parameters, our products, the place of its gradient.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "agents/nn/kernels/gemm.hpp"
#include "policies/dense.hpp"

namespace berth {

using kernels::AlignedFloats;

// One parameter of the trained network: "actor_0.weight", its values (row-major) and their number.
struct ParameterView {
  std::string name;
  float* values;
  std::size_t size;
};

class FusedDense {
 public:
  FusedDense() = default;
  // Finds "<name>.weight" and "<name>.bias" among the parameters; `gradient` is as long as all of them. With
  // `count` >= 0 it is the part of the layer that reads the inputs from `first` on, `count` of them, without
  // bias. `multiply_adds` counts the products.
  FusedDense(const std::string& name, std::span<const ParameterView> parameters, float* gradient,
             double* multiply_adds, int inputs, int outputs, int first = 0, int count = -1);

  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  const float* bias() const { return bias_; }
  // The parameters changed. `backward`: BackwardInput will be asked for.
  void Refresh(bool backward);
  // Y [rows, outputs] = activation(X W^T + b), or + Y instead of b.
  void Forward(const float* x, std::ptrdiff_t rows, float* y, kernels::Epilogue epilogue, bool add = false);
  void Forward(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, float* y, std::ptrdiff_t ldy,
               kernels::Epilogue epilogue, bool add = false);
  // Adds the gradients of weight and bias.
  void Backward(const float* x, std::ptrdiff_t ldx, const float* dy, std::ptrdiff_t ldy, std::ptrdiff_t rows);
  // dX = dY W, with `add` + dX; times the derivative of the activation whose values `gate` are, where given.
  void BackwardInput(const float* dy, std::ptrdiff_t ldy, std::ptrdiff_t rows, float* dx, std::ptrdiff_t ldx,
                     bool add = false, const float* gate = nullptr,
                     kernels::Epilogue kind = kernels::Epilogue::kNone);
  // Adds the column sums of dy to the gradient of the whole layer's bias.
  void BackwardBias(const float* dy, std::ptrdiff_t ldy, std::ptrdiff_t rows);

 private:
  void Count(std::ptrdiff_t rows) { *multiply_adds_ += static_cast<double>(rows * inputs_ * outputs_); }

  int inputs_ = 0, outputs_ = 0;
  std::ptrdiff_t ld_ = 0;  // of the whole weight
  bool whole_ = true;
  const float *weight_ = nullptr, *bias_ = nullptr;
  float *weight_gradient_ = nullptr, *bias_gradient_ = nullptr;
  double* multiply_adds_ = nullptr;
  kernels::PackedDense packed_;
};

inline kernels::Epilogue EpilogueOf(Activation activation) {
  return activation == Activation::kNone   ? kernels::Epilogue::kNone
         : activation == Activation::kRelu ? kernels::Epilogue::kRelu
                                           : kernels::Epilogue::kTanh;
}
// dy *= the activation's derivative where its value is y.
void ActivationBackward(Activation activation, std::span<const float> y, std::span<float> dy);

}  // namespace berth
