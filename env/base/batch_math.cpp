#include "env/base/batch_math.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "env/base/exp_core.hpp"
#include "env/base/log_core.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/vector_unit.hpp"

namespace berth {
namespace {

using Kernel = void (*)(double* values, std::size_t n);

[[gnu::always_inline]] inline void LogEach(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = LogOfNormal(values[i]);
}
void BaselineLog(double* values, std::size_t n) {
  LogEach(values, n);
}
BERTH_TARGET_AVX2 void Avx2Log(double* values, std::size_t n) {
  LogEach(values, n);
}
BERTH_TARGET_AVX512 void Avx512Log(double* values, std::size_t n) {
  LogEach(values, n);
}

[[gnu::always_inline]] inline void ExpEach(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = ExpOfModerate(values[i]);
}
void BaselineExp(double* values, std::size_t n) {
  ExpEach(values, n);
}
BERTH_TARGET_AVX2 void Avx2Exp(double* values, std::size_t n) {
  ExpEach(values, n);
}
BERTH_TARGET_AVX512 void Avx512Exp(double* values, std::size_t n) {
  ExpEach(values, n);
}

Kernel Best(Kernel baseline, Kernel avx2, Kernel avx512) {
  const VectorUnit unit = BestVectorUnit();
  return unit == VectorUnit::kAvx512 ? avx512 : unit == VectorUnit::kAvx2 ? avx2 : baseline;
}

bool Normal(double x) {
  return x >= std::numeric_limits<double>::min() && x <= std::numeric_limits<double>::max();
}

}  // namespace

void Logs(std::span<double> values) {
  static const Kernel kernel = Best(BaselineLog, Avx2Log, Avx512Log);
  bool normal = true;
  for (double x : values) normal &= Normal(x);
  if (normal) return kernel(values.data(), values.size());
  for (double& x : values) x = Log(x);
}

void Exps(std::span<double> values) {
  static const Kernel kernel = Best(BaselineExp, Avx2Exp, Avx512Exp);
  bool moderate = true;
  for (double x : values) moderate &= x >= -700.0 && x <= 700.0;
  if (moderate) return kernel(values.data(), values.size());
  for (double& x : values) x = Exp(x);
}

}  // namespace berth
