// Dense layers without LibTorch and without a BLAS: every output is summed over its inputs in one fixed
// order, so the bits do not depend on the machine's caches, the number of rows or the thread.
#pragma once

#include <span>
#include <vector>

namespace berth {

enum class Activation { kNone, kRelu, kTanh };
// The greatest lower bound of its values (of relu and tanh): what stands for "nobody" in a maximum.
inline float Floor(Activation activation) {
  return activation == Activation::kRelu ? 0.0F : -1.0F;
}
void Activate(Activation activation, std::span<float> values);  // in place

// y [rows, outputs] += x [rows, inputs] w [inputs, outputs]; all row-major and dense. y must not overlap x or
// w.
void MultiplyAdd(const float* x, int rows, int inputs, const float* w, int outputs, float* y);

// A layer ready to run: weights transposed to [inputs, outputs].
struct Dense {
  int inputs = 0, outputs = 0;
  std::vector<float> weight;  // [inputs, outputs]
  std::vector<float> bias;    // [outputs]
  // y [rows, outputs] = x [rows, inputs] W + b
  void Forward(const float* x, int rows, float* y) const;
  // Rows of `weight` that belong to inputs first .. first + n - 1 are contiguous from here.
  const float* Inputs(int first) const {
    return weight.data() + static_cast<std::size_t>(first) * static_cast<std::size_t>(outputs);
  }
};

}  // namespace berth
