#include "policies/dense.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "env/base/batch_math.hpp"
#include "env/base/vector_unit.hpp"

namespace berth {
namespace {

namespace baseline {
#define BERTH_LANES 4
#include "policies/dense_kernel.inc"
#undef BERTH_LANES
}  // namespace baseline

#if BERTH_HAS_VECTOR_TARGETS
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#define BERTH_LANES 8
#include "policies/dense_kernel.inc"
#undef BERTH_LANES
}  // namespace avx2
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw")
namespace avx512 {
#define BERTH_LANES 16
#include "policies/dense_kernel.inc"
#undef BERTH_LANES
}  // namespace avx512
#pragma GCC pop_options
#else
namespace avx2 = baseline;
namespace avx512 = baseline;
#endif

}  // namespace

void Activate(Activation activation, std::span<float> values) {
  if (activation == Activation::kRelu) {
    for (float& value : values) value = value < 0.0F ? 0.0F : value;  // NaN stays: a broken policy is noticed
    return;
  }
  if (activation == Activation::kNone) return;
  double e[64];  // through our own Exp: libm's tanh differs between systems
  for (std::size_t begin = 0; begin < values.size(); begin += std::size(e)) {
    const std::span<float> some = values.subspan(begin, std::min(std::size(e), values.size() - begin));
    for (std::size_t i = 0; i < some.size(); ++i) e[i] = -2.0 * std::abs(static_cast<double>(some[i]));
    Exps({e, some.size()});
    for (std::size_t i = 0; i < some.size(); ++i) {
      const double t = (1.0 - e[i]) / (1.0 + e[i]);
      some[i] = static_cast<float>(some[i] < 0.0F ? -t : t);
    }
  }
}

void MultiplyAdd(const float* x, int rows, int inputs, const float* w, int outputs, float* y) {
  static const VectorUnit unit = BestVectorUnit();
  static const auto product = unit == VectorUnit::kAvx512 ? avx512::Product
                              : unit == VectorUnit::kAvx2 ? avx2::Product
                                                          : baseline::Product;
  if (rows == 0 || outputs == 0) return;  // nowhere to go: x, w or y may be null
  product(x, static_cast<std::size_t>(rows), static_cast<std::size_t>(inputs), w,
          static_cast<std::size_t>(outputs), y);
}

void Dense::Forward(const float* x, int rows, float* y) const {
  for (int row = 0; row < rows; ++row) {
    std::copy(bias.begin(), bias.end(), y + static_cast<std::size_t>(row) * bias.size());
  }
  MultiplyAdd(x, rows, inputs, weight.data(), outputs, y);
}

}  // namespace berth
