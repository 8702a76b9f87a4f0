// A stack of dense layers with an activation between them, forward and backward on plain memory, for
// parameters that lie in one row. Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "agents/kernels/gemm.hpp"
#include "policies/dense.hpp"

namespace berth {

// Where a layer's parameters begin in the row: weight [outputs, inputs], bias [outputs].
struct TrunkLayer {
  int inputs = 0, outputs = 0;
  std::size_t weight = 0, bias = 0;
};

class DenseTrunk {
 public:
  DenseTrunk(std::vector<TrunkLayer> layers, Activation activation);

  // After every change of the parameters. `backward`: also for Backward.
  void Pack(const float* parameters, bool backward);

  // x [rows, inputs] through the hidden layers: what the last of them gives, [rows, units], or x itself where
  // there is none. Kept until the next call, for Backward.
  const float* Hidden(const float* x, int rows);
  // ... and through the last layer: y [rows, outputs].
  void Forward(const float* x, int rows, float* y);
  // Adds to `gradient`, a row like the parameters, what dy [rows, outputs] brings, for the x of the last
  // Forward.
  void Backward(const float* x, int rows, const float* dy, float* gradient);
  // The same below the last layer: dh [rows, units] is the gradient at what Hidden gave, and is overwritten.
  void BackwardHidden(const float* x, int rows, float* dh, float* gradient);

  const TrunkLayer& last() const { return layers_.back(); }
  int inputs() const { return layers_.front().inputs; }

 private:
  // The gradients of layer `l` from dy at its outputs, and those at its inputs where dx is given.
  void BackwardLayer(std::size_t l, const float* x, int rows, const float* dy, float* dx,
                     float* gradient) const;

  std::vector<TrunkLayer> layers_;
  Activation activation_;
  std::vector<kernels::PackedDense> packed_;
  std::vector<kernels::AlignedFloats> hidden_;  // [layers - 1] of [rows, units]
  kernels::AlignedFloats d_above_, d_below_;    // [rows, most units]
};

}  // namespace berth
