#include "env/base/least_squares.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// A pivot this much smaller than its diagonal was is rounding: the unknown is determined by the others.
constexpr double kSingular = 1e-13;

}  // namespace

NormalEquations::NormalEquations(int unknowns)
    : n_(unknowns), a_(U(unknowns) * U(unknowns), 0.0), b_(U(unknowns), 0.0) {}

void NormalEquations::Clear() {
  std::fill(a_.begin(), a_.end(), 0.0);
  std::fill(b_.begin(), b_.end(), 0.0);
}

void NormalEquations::Add(std::span<const double> row, double y) {
  BERTH_DCHECK(row.size() == U(n_), row.size());
  for (std::size_t i = 0; i < U(n_); ++i) {
    for (std::size_t j = 0; j <= i; ++j) a_[i * U(n_) + j] += row[i] * row[j];
    b_[i] += row[i] * y;
  }
}

std::vector<double> NormalEquations::Solve(double ridge) const {
  return Solve(std::vector<double>(U(n_), ridge));
}

std::vector<double> NormalEquations::Solve(std::span<const double> ridge) const {
  BERTH_CHECK(ridge.size() == U(n_), ridge.size());
  const std::size_t n = U(n_);
  std::vector<double> l(a_), w(b_);
  std::vector<char> free(n, 0);
  for (std::size_t i = 0; i < n; ++i) l[i * n + i] += ridge[i];
  for (std::size_t j = 0; j < n; ++j) {  // column by column
    const double diagonal = l[j * n + j];
    double pivot = diagonal;
    for (std::size_t k = 0; k < j; ++k) pivot -= l[j * n + k] * l[j * n + k];
    free[j] = !(pivot > kSingular * diagonal);
    const double root = free[j] ? 1.0 : std::sqrt(pivot);
    l[j * n + j] = root;
    for (std::size_t i = j + 1; i < n; ++i) {
      double sum = l[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = free[j] ? 0.0 : sum / root;
    }
    if (free[j]) {
      for (std::size_t k = 0; k < j; ++k) l[j * n + k] = 0.0;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) w[i] -= l[i * n + k] * w[k];
    w[i] = free[i] ? 0.0 : w[i] / l[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) w[i] -= l[k * n + i] * w[k];
    w[i] = free[i] ? 0.0 : w[i] / l[i * n + i];
  }
  return w;
}

}  // namespace berth
