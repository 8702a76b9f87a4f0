#include "env/base/limited_memory.hpp"

#include <cmath>

#include "env/base/index.hpp"

namespace berth {
namespace {

using Vector = std::vector<double>;

double DotOver(const std::vector<std::size_t>& which, const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t i : which) sum += a[i] * b[i];
  return sum;
}

}  // namespace

bool SquareMatrix::Factor(std::size_t first, std::size_t end) {
  SquareMatrix& r = *this;
  for (std::size_t j = first; j < end; ++j) {
    double squares = 0.0;
    for (std::size_t k = first; k < j; ++k) {
      double sum = 0.0;
      for (std::size_t i = first; i < k; ++i) sum += r(i, k) * r(i, j);
      r(k, j) = (r(k, j) - sum) / r(k, k);
      squares += r(k, j) * r(k, j);
    }
    const double left = r(j, j) - squares;
    if (left <= 0.0) return false;
    r(j, j) = std::sqrt(left);
  }
  return true;
}

void SquareMatrix::SolveTransposed(std::span<double> x) const {
  for (std::size_t j = 0; j < x.size(); ++j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < j; ++i) sum += (*this)(i, j) * x[i];
    x[j] = (x[j] - sum) / (*this)(j, j);
  }
}

void SquareMatrix::Solve(std::span<double> x) const {
  for (std::size_t j = x.size(); j-- > 0;) {
    x[j] /= (*this)(j, j);
    for (std::size_t i = 0; i < j; ++i) x[i] -= (*this)(i, j) * x[j];
  }
}

LimitedMemory::LimitedMemory(int most) : most_(U(most)) {
  products_.Resize(2 * most_);
}

void LimitedMemory::Forget() {
  steps_.clear(), changes_.clear(), curvature_.clear(), squares_.clear();
  theta_ = 1.0;
  learned_ = false;
  updates_ = 0;
}

bool LimitedMemory::Learn(const Vector& step, const Vector& change, double sy, double ss) {
  if (steps_.size() == most_) {
    steps_.erase(steps_.begin()), changes_.erase(changes_.begin());
    curvature_.erase(curvature_.begin()), squares_.erase(squares_.begin());
  }
  steps_.push_back(step), changes_.push_back(change);
  curvature_.push_back(sy), squares_.push_back(ss);
  learned_ = true;
  ++updates_;
  theta_ = Dot(change, change) / sy;
  const std::size_t m = steps_.size();
  sy_.Resize(m), middle_.Resize(m);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < i; ++j) sy_(i, j) = Dot(steps_[i], changes_[j]);
    sy_(i, i) = curvature_[i];
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < j; ++k) sum += sy_(j, k) * sy_(i, k) / sy_(k, k);
      middle_(j, i) = sum + theta_ * (i == j ? squares_[i] : Dot(steps_[j], steps_[i]));
    }
  }
  return middle_.Factor(0, m);
}

// M^-1 = [D^1/2, 0; -L D^-1/2, J] [-D^1/2, D^-1/2 L'; 0, J'] with J J' = theta S'S + L D^-1 L'.
void LimitedMemory::Middle(const Vector& v, Vector& p) const {
  const std::size_t m = steps_.size();
  p.assign(2 * m, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < i; ++k) sum += sy_(i, k) * v[k] / sy_(k, k);
    p[m + i] = v[m + i] + sum;
  }
  const std::span<double> second = std::span(p).subspan(m);
  middle_.SolveTransposed(second);
  for (std::size_t i = 0; i < m; ++i) p[i] = v[i] / std::sqrt(sy_(i, i));
  middle_.Solve(second);
  for (std::size_t i = 0; i < m; ++i) {
    p[i] = -p[i] / std::sqrt(sy_(i, i));
    double sum = 0.0;
    for (std::size_t k = i + 1; k < m; ++k) sum += sy_(k, i) * p[m + k] / sy_(i, i);
    p[i] += sum;
  }
}

// K = [D + Y'ZZ'Y / theta, -L_a' + R_z'; , theta S'AA'S], its first block negated: Z are the free x, A those
// at bounds, L_a the strictly lower part of S'AA'Y and R_z the upper part of S'ZZ'Y (section 5.3). The
// products are kept, and corrected for what the last step added and which x changed sides. The code of 1995
// does so too, and never learns of what it was not asked for, as when no x was free: products of that step
// are missing from then on, K is often not positive definite, and the memory begins anew. Its points are ours
// only if this is kept.
bool LimitedMemory::FactorSubspace(const Freedom& of) {
  const std::size_t m = steps_.size(), s = most_;  // rows of S begin there
  std::size_t old = m;
  if (learned_) {
    if (updates_ > most_) {
      for (std::size_t j = 0; j + 1 < most_; ++j) {
        for (std::size_t i = j; i + 1 < most_; ++i) {
          products_(i, j) = products_(i + 1, j + 1);
          products_(s + i, s + j) = products_(s + i + 1, s + j + 1);
        }
        for (std::size_t i = 0; i + 1 < most_; ++i) products_(s + i, j) = products_(s + i + 1, j + 1);
      }
    }
    old = m - 1;
    for (std::size_t j = 0; j < m; ++j) {
      products_(old, j) = DotOver(of.free, changes_[old], changes_[j]);
      products_(s + old, s + j) = DotOver(of.bound, steps_[old], steps_[j]);
      products_(s + old, j) = DotOver(of.bound, steps_[old], changes_[j]);
    }
    for (std::size_t i = 0; i < m; ++i) products_(s + i, old) = DotOver(of.free, steps_[i], changes_[old]);
  }
  for (std::size_t i = 0; i < old; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double& yy = products_(i, j);
      double& ss = products_(s + i, s + j);
      yy = yy + DotOver(of.freed, changes_[i], changes_[j]) - DotOver(of.stopped, changes_[i], changes_[j]);
      ss = ss - DotOver(of.freed, steps_[i], steps_[j]) + DotOver(of.stopped, steps_[i], steps_[j]);
    }
    for (std::size_t j = 0; j < old; ++j) {
      double& sy = products_(s + i, j);
      const double in = DotOver(of.freed, steps_[i], changes_[j]);
      const double out = DotOver(of.stopped, steps_[i], changes_[j]);
      sy = i <= j ? sy + in - out : sy - in + out;
    }
  }
  k_.Resize(2 * m);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      k_(j, i) = products_(i, j) / theta_;
      k_(m + j, m + i) = products_(s + i, s + j) * theta_;
    }
    for (std::size_t j = 0; j < m; ++j) k_(j, m + i) = j < i ? -products_(s + i, j) : products_(s + i, j);
    k_(i, i) += sy_(i, i);
  }
  if (!k_.Factor(0, m)) return false;
  Vector column(m);
  for (std::size_t j = m; j < 2 * m; ++j) {
    for (std::size_t i = 0; i < m; ++i) column[i] = k_(i, j);
    k_.SolveTransposed(column);
    for (std::size_t i = 0; i < m; ++i) k_(i, j) = column[i];
  }
  for (std::size_t i = m; i < 2 * m; ++i) {
    for (std::size_t j = i; j < 2 * m; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < m; ++k) sum += k_(k, i) * k_(k, j);
      k_(i, j) += sum;
    }
  }
  return k_.Factor(m, 2 * m);
}

bool LimitedMemory::Newton(const Freedom& of, Vector& r) {
  if ((learned_ || !of.freed.empty() || !of.stopped.empty()) && !FactorSubspace(of)) return false;
  // d = r / theta + Z'W K^-1 W'Z r / theta^2
  const std::size_t m = steps_.size(), n = of.free.size();
  Vector w(2 * m);
  for (std::size_t j = 0; j < m; ++j) {
    double of_y = 0.0, of_s = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      of_y += changes_[j][of.free[i]] * r[i];
      of_s += steps_[j][of.free[i]] * r[i];
    }
    w[j] = of_y, w[m + j] = theta_ * of_s;
  }
  k_.SolveTransposed(w);
  for (std::size_t j = 0; j < m; ++j) w[j] = -w[j];
  k_.Solve(w);
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < n; ++i)
      r[i] = r[i] + changes_[j][of.free[i]] * w[j] / theta_ + steps_[j][of.free[i]] * w[m + j];
  }
  for (double& d : r) d *= 1.0 / theta_;
  return true;
}

}  // namespace berth
