// Single-precision products in the three forms that a dense layer needs, without LibTorch: on batches of some
// hundred rows and layers of 32 to 256 units its calls cost more than their arithmetic.
//
//   PackedDense layer(inputs, outputs);
//   layer.Pack(weight, bias);                                   // after every change of the parameters
//   layer.Forward(x, ldx, rows, y, ldy, Epilogue::kTanh);       // Y = tanh(X W^T + b)
//   layer.BackwardInput(dy, ldy, rows, dx, ldx, false);         // dX = dY W
//   BackwardWeight(x, ldx, inputs, dy, ldy, outputs, rows, dw); // dW += dY^T X
//   AddColumnSums(dy, ldy, rows, outputs, db);                  // db += column sums of dY
//
// Matrices are row-major, `ld` is the distance of rows in floats. Every sum has one order on one thread: that
// of the reduced index, but lane by lane in ForwardOne. A row of Y has the same bits whatever rows stand
// beside it; other instruction sets round differently (fused multiply-add). Thread rule: const functions from
// any thread, Pack by one.
#pragma once

#include <cstddef>
#include <span>

#include "agents/nn/kernels/aligned.hpp"
#include "agents/nn/kernels/kernel_table.hpp"

namespace berth::kernels {

// The weights of one layer, cut into the panels that the product reads.
class PackedDense {
 public:
  PackedDense() = default;
  PackedDense(int inputs, int outputs);
  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }

  // weight [outputs, inputs] with rows `ld` apart, bias [outputs] or null for none. `backward`: also for
  // BackwardInput.
  void Pack(const float* weight, std::ptrdiff_t ld, const float* bias, bool backward);

  // Y [rows, outputs] = epilogue(X [rows, inputs] W^T + b); with `add`, + Y in the place of b.
  void Forward(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, float* y, std::ptrdiff_t ldy,
               Epilogue epilogue = Epilogue::kNone, bool add = false) const;
  // dX [rows, inputs] = dY [rows, outputs] W, with `add` + dX. `gate`, where given, are the values [rows,
  // inputs], ldx apart, of the activation `kind` that X is: then dX is the gradient before the activation.
  void BackwardInput(const float* dy, std::ptrdiff_t ldy, std::ptrdiff_t rows, float* dx, std::ptrdiff_t ldx,
                     bool add, const float* gate = nullptr, Epilogue kind = Epilogue::kNone) const;

 private:
  int inputs_ = 0, outputs_ = 0;
  AlignedFloats forward_, backward_;  // panels of W^T [inputs, panel] and of W [outputs, panel]
  AlignedFloats bias_;                // padded to panels
};

// dW [outputs, inputs] with rows `ldw` apart += dY^T X, X [rows, inputs], dY [rows, outputs].
void BackwardWeight(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t inputs, const float* dy,
                    std::ptrdiff_t ldy, std::ptrdiff_t outputs, std::ptrdiff_t rows, float* dw,
                    std::ptrdiff_t ldw);
// sums [columns] += the sum over rows of x [rows, columns].
void AddColumnSums(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, std::ptrdiff_t columns,
                   float* sums);

// A layer with one output: y [rows] = X w + bias, and sums [columns] += the sum over rows of dy[r] x[r].
void ForwardOne(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, std::ptrdiff_t inputs,
                const float* w, float bias, float* y);
void BackwardOne(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, std::ptrdiff_t inputs,
                 const float* dy, float* dw);

// C [m, n] = A [m, k] B [k, n], for measurements.
void Multiply(const float* a, const float* b, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, float* c);

// "avx512", "avx2" or "baseline": what runs here.
const char* InstructionSet();

}  // namespace berth::kernels
