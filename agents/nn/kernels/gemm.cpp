#include "agents/nn/kernels/gemm.hpp"

#include <algorithm>
#include <cstdint>

namespace berth::kernels {
namespace {

std::size_t U(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

std::ptrdiff_t Panels(std::ptrdiff_t n) {
  return (n + Kernels().panel - 1) / Kernels().panel;
}

// B [k, n], row-major, as panels: whole ones where they lie, a ragged last one copied to `edge`.
void MultiplyPanels(GemmCall call, const float* b, std::ptrdiff_t ldb, AlignedFloats& edge) {
  const std::ptrdiff_t panel = Kernels().panel, whole = call.n / panel * panel, rest = call.n - whole;
  call.b = b;
  call.ldb = ldb;
  call.panel_stride = panel;
  const std::ptrdiff_t n = call.n;
  call.n = whole;
  if (whole > 0) Kernels().gemm(call);
  if (rest == 0) return;
  if (edge.size() < U(call.k * panel)) edge.resize(U(call.k * panel));
  for (std::ptrdiff_t p = 0; p < call.k; ++p) {
    std::copy_n(b + p * ldb + whole, rest, edge.data() + p * panel);
  }
  call.n = n - whole;
  call.b = edge.data();
  call.ldb = panel;
  call.c += whole;
  Kernels().gemm(call);
}

using Four = float __attribute__((vector_size(16)));
using FourAnywhere = float __attribute__((vector_size(16), aligned(4), may_alias));

// to [columns, rows] = from [rows, columns], rows `ld` and `to_ld` apart; by squares of four.
void Transpose(const float* from, std::ptrdiff_t ld, std::ptrdiff_t rows, std::ptrdiff_t columns, float* to,
               std::ptrdiff_t to_ld) {
  using Lanes = std::int32_t __attribute__((vector_size(16)));
  const auto load = [](const float* p) -> Four { return *reinterpret_cast<const FourAnywhere*>(p); };
  const auto store = [](float* p, Four x) { *reinterpret_cast<FourAnywhere*>(p) = x; };
  const std::ptrdiff_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (std::ptrdiff_t i = 0; i < whole_columns; i += 4) {
    for (std::ptrdiff_t o = 0; o < whole_rows; o += 4) {
      const float* p = from + o * ld + i;
      const Four a = load(p), b = load(p + ld), c = load(p + 2 * ld), d = load(p + 3 * ld);
      const Four ab_low = __builtin_shuffle(a, b, Lanes{0, 4, 1, 5}),
                 ab_high = __builtin_shuffle(a, b, Lanes{2, 6, 3, 7}),
                 cd_low = __builtin_shuffle(c, d, Lanes{0, 4, 1, 5}),
                 cd_high = __builtin_shuffle(c, d, Lanes{2, 6, 3, 7});
      float* t = to + i * to_ld + o;
      store(t, __builtin_shuffle(ab_low, cd_low, Lanes{0, 1, 4, 5}));
      store(t + to_ld, __builtin_shuffle(ab_low, cd_low, Lanes{2, 3, 6, 7}));
      store(t + 2 * to_ld, __builtin_shuffle(ab_high, cd_high, Lanes{0, 1, 4, 5}));
      store(t + 3 * to_ld, __builtin_shuffle(ab_high, cd_high, Lanes{2, 3, 6, 7}));
    }
  }
  for (std::ptrdiff_t o = 0; o < rows; ++o) {
    for (std::ptrdiff_t i = o < whole_rows ? whole_columns : 0; i < columns; ++i) {
      to[i * to_ld + o] = from[o * ld + i];
    }
  }
}

}  // namespace

PackedDense::PackedDense(int inputs, int outputs) : inputs_(inputs), outputs_(outputs) {}

void PackedDense::Pack(const float* weight, std::ptrdiff_t ld, const float* bias, bool backward) {
  const std::ptrdiff_t panel = Kernels().panel, inputs = inputs_, outputs = outputs_;
  forward_.resize(U(Panels(outputs) * panel * inputs));
  bias_.resize(U(Panels(outputs) * panel));
  for (std::ptrdiff_t q = 0; q < outputs; q += panel) {
    Transpose(weight + q * ld, ld, std::min(panel, outputs - q), inputs, forward_.data() + q * inputs, panel);
  }
  if (bias != nullptr) {
    std::copy_n(bias, outputs, bias_.data());
  } else {
    std::fill(bias_.begin(), bias_.end(), 0.0F);
  }
  if (!backward) return;
  backward_.resize(U(Panels(inputs) * panel * outputs));
  for (std::ptrdiff_t q = 0; q < inputs; q += panel) {
    const std::ptrdiff_t columns = std::min(panel, inputs - q);
    for (std::ptrdiff_t o = 0; o < outputs; ++o) {
      std::copy_n(weight + o * ld + q, columns, backward_.data() + q * outputs + o * panel);
    }
  }
}

void PackedDense::Forward(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, float* y,
                          std::ptrdiff_t ldy, Epilogue epilogue, bool add) const {
  const std::ptrdiff_t panel = Kernels().panel;
  Kernels().gemm({.m = rows,
                  .n = outputs_,
                  .k = inputs_,
                  .a = x,
                  .lda = ldx,
                  .a_columns = false,
                  .b = forward_.data(),
                  .ldb = panel,
                  .panel_stride = panel * inputs_,
                  .c = y,
                  .ldc = ldy,
                  .bias = bias_.data(),
                  .add = add,
                  .epilogue = epilogue});
}

void PackedDense::BackwardInput(const float* dy, std::ptrdiff_t ldy, std::ptrdiff_t rows, float* dx,
                                std::ptrdiff_t ldx, bool add, const float* gate, Epilogue kind) const {
  const std::ptrdiff_t panel = Kernels().panel;
  Kernels().gemm({.m = rows,
                  .n = inputs_,
                  .k = outputs_,
                  .a = dy,
                  .lda = ldy,
                  .a_columns = false,
                  .b = backward_.data(),
                  .ldb = panel,
                  .panel_stride = panel * outputs_,
                  .c = dx,
                  .ldc = ldx,
                  .bias = nullptr,
                  .add = add,
                  .epilogue = Epilogue::kNone,
                  .gate = gate,
                  .gate_kind = kind});
}

void BackwardWeight(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t inputs, const float* dy,
                    std::ptrdiff_t ldy, std::ptrdiff_t outputs, std::ptrdiff_t rows, float* dw,
                    std::ptrdiff_t ldw) {
  thread_local AlignedFloats edge, turned;
  GemmCall call = {.m = outputs,
                   .n = inputs,
                   .k = rows,
                   .a = dy,
                   .lda = ldy,
                   .a_columns = true,
                   .b = nullptr,
                   .ldb = 0,
                   .panel_stride = 0,
                   .c = dw,
                   .ldc = ldw,
                   .bias = nullptr,
                   .add = true,
                   .epilogue = Epilogue::kNone};
  // Few inputs fill few lanes of a panel: then dW^T = X^T dY, which is turned afterwards.
  const auto waste = [](std::ptrdiff_t n) { return Panels(n) * Kernels().panel - n; };
  if (waste(inputs) * outputs <= waste(outputs) * inputs) {
    MultiplyPanels(call, x, ldx, edge);
    return;
  }
  turned.resize(U(inputs * outputs));
  call.m = inputs;
  call.n = outputs;
  call.a = x;
  call.lda = ldx;
  call.c = turned.data();
  call.ldc = outputs;
  call.add = false;
  MultiplyPanels(call, dy, ldy, edge);
  for (std::ptrdiff_t o = 0; o < outputs; ++o) {
    for (std::ptrdiff_t i = 0; i < inputs; ++i) dw[o * ldw + i] += turned[U(i * outputs + o)];
  }
}

void AddColumnSums(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, std::ptrdiff_t columns,
                   float* sums) {
  Kernels().add_rows(x, ldx, U(rows), U(columns), nullptr, sums);
}

void ForwardOne(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, std::ptrdiff_t inputs,
                const float* w, float bias, float* y) {
  Kernels().dot_rows(x, ldx, U(rows), U(inputs), w, bias, y);
}

void BackwardOne(const float* x, std::ptrdiff_t ldx, std::ptrdiff_t rows, std::ptrdiff_t inputs,
                 const float* dy, float* dw) {
  Kernels().add_rows(x, ldx, U(rows), U(inputs), dy, dw);
}

void Multiply(const float* a, const float* b, std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k,
              float* c) {
  thread_local AlignedFloats edge;
  MultiplyPanels({.m = m,
                  .n = n,
                  .k = k,
                  .a = a,
                  .lda = k,
                  .a_columns = false,
                  .b = nullptr,
                  .ldb = 0,
                  .panel_stride = 0,
                  .c = c,
                  .ldc = n,
                  .bias = nullptr,
                  .add = false,
                  .epilogue = Epilogue::kNone},
                 b, n, edge);
}

const char* InstructionSet() {
  return Kernels().name;
}

}  // namespace berth::kernels
