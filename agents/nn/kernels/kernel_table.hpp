// What is compiled once for every instruction set (isa_*.cpp), and chosen at the first use.
// Layers and activations are better called by gemm.hpp and elementwise.hpp; the rest is called here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace berth::kernels {

enum class Epilogue : int { kNone, kRelu, kTanh };

// C [m, n] = A [m, k] B [k, n], row-major C. A has either contiguous rows (a_columns false: element (i, p) at
// a[i * lda + p]) or contiguous columns (a_columns: a[p * lda + i]). B is cut into panels of `KernelTable::
// panel` columns: element (p, j) of panel q at b[q * panel_stride + p * ldb + j]; all its columns are
// readable, those beyond n count for nothing. `bias` [n, rounded up to the panel], where given, is what C
// starts from; with `add` it is C itself. `epilogue` is applied to the sums. `gate`, where given, is an
// activation's values [m, n], rows ldc apart as C's, of the kind `gate_kind`: the sums are multiplied by its
// derivative there. Every row of C has the same bits whatever m is.
struct GemmCall {
  std::ptrdiff_t m, n, k;
  const float* a;
  std::ptrdiff_t lda;
  bool a_columns;
  const float* b;
  std::ptrdiff_t ldb, panel_stride;
  float* c;
  std::ptrdiff_t ldc;
  const float* bias;
  bool add;
  Epilogue epilogue = Epilogue::kNone;
  const float* gate = nullptr;
  Epilogue gate_kind = Epilogue::kNone;
};

// Jobs of one state on every GPU type: rows of `units` floats, `types` rows a job.
struct PairShape {
  std::size_t jobs, types, units;
};

// Rows of one state: scores [actions] that they share, masks [rows][actions] of their own.
struct SharedRows {
  const float* scores;
  const std::uint8_t* const* masks;
  std::size_t rows, actions;
};

// Rows of x [rows, columns], `ld` apart, ld >= columns.
struct SoftmaxRowsCall {
  float* x;
  std::size_t rows, columns, ld;
  float scale;
};

struct AdamCall {
  float *parameter, *first, *second;
  const float* gradient;
  std::size_t size;
  float scale, step, root_correction, epsilon;  // see elementwise.hpp
};

struct KernelTable {
  const char* name;
  int panel;  // columns of B that are read together
  void (*gemm)(const GemmCall& call);
  // [rows, columns] row stride ldx, times w [columns], plus bias: y [rows]
  void (*dot_rows)(const float* x, std::ptrdiff_t ldx, std::size_t rows, std::size_t columns, const float* w,
                   float bias, float* y);
  // y [columns] += the sum over rows of x, or of weight[r] * x where weight is given
  void (*add_rows)(const float* x, std::ptrdiff_t ldx, std::size_t rows, std::size_t columns,
                   const float* weight, float* y);
  void (*relu)(float* x, std::size_t n);
  void (*tanh)(float* x, std::size_t n);
  void (*exp)(float* x, std::size_t n);
  void (*relu_backward)(const float* y, float* dy, std::size_t n);
  void (*tanh_backward)(const float* y, float* dy, std::size_t n);
  // See MaskedSoftmax.
  void (*masked_softmax)(const float* scores, const std::uint8_t* mask, std::size_t n, float* shifted,
                         float* probability, float* sum, float* entropy_part);
  // d [n] += p * (c0 + c1 * shifted)
  void (*softmax_backward)(const float* probability, const float* shifted, std::size_t n, float c0, float c1,
                           float* d);
  // See SharedSoftmax.
  void (*shared_softmax)(const SharedRows& shared, float* shifted, float* power, float* sums, float* means);
  // d [actions] += power * the sum over the rows where it is legal of (c0 [rows] + c1 [rows] * shifted)
  void (*shared_softmax_backward)(const SharedRows& shared, const float* shifted, const float* power,
                                  const float* c0, const float* c1, float* d);
  // pair [jobs, types, units] = job [jobs, units] + state [types, units]
  void (*spread)(const PairShape& shape, const float* job, const float* state, float* pair);
  // Its gradient: job = the sums over types, state = those over jobs.
  void (*fold)(const PairShape& shape, const float* pair, float* job, float* state);
  // mean and most [units] over the rows of x [jobs, units]; `floor` is the least that most may be.
  void (*pool)(const PairShape& shape, const float* x, float floor, float* mean, float* most);
  // Its gradient at x, from d_mean and d_most [units]; rows that share a maximum share its gradient.
  void (*unpool)(const PairShape& shape, const float* x, const float* most, const float* d_mean,
                 const float* d_most, float* dx);
  // Each row becomes softmax(scale x); 0 from `columns` to ld. Then its gradient: x is that at the weights
  // [rows, ld], and becomes that at what they were made of.
  void (*softmax_rows)(const SoftmaxRowsCall& call);
  void (*softmax_rows_backward)(const SoftmaxRowsCall& call, const float* weights);
  // y [rows, width]: each row less its mean, times factor [rows] = 1 / sqrt(its variance + epsilon). Then its
  // gradient at x.
  void (*normalize)(const float* x, std::size_t rows, std::size_t width, float epsilon, float* y,
                    float* factor);
  void (*normalize_backward)(const float* y, const float* factor, const float* dy, std::size_t rows,
                             std::size_t width, float* dx);
  double (*squared_norm)(const float* x, std::size_t n);
  void (*adam)(const AdamCall& call);
};

const KernelTable& BaselineKernels();
#if defined(__x86_64__)
const KernelTable& Avx2Kernels();
const KernelTable& Avx512Kernels();
#endif
// Those that this machine runs, the best first; and the one in use: the best.
std::span<const KernelTable* const> RunnableKernels();
const KernelTable& Kernels();
// Puts another of them in use, for tests. Weights that were packed before are useless. No other thread may be
// in a kernel.
void UseKernels(const KernelTable& table);

}  // namespace berth::kernels
