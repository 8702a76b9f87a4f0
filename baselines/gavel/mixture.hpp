// The mixture of given points of [G] whose largest component is least, and the prices that prove it (a matrix
// game; von Neumann 1928): min s, sum_k mu_k u_kj <= s for every j, sum_k mu_k = 1, mu >= 0. The simplex
// method on a basis of G + 1, kept while points are added one at a time: the master problem of Dantzig and
// Wolfe, "Decomposition principle for linear programs", 1960.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace berth::gavel {

class Mixture {
 public:
  explicit Mixture(int types) : types_(static_cast<std::size_t>(types)) {}
  void Clear() { points_.clear(); }
  void Add(std::span<const double> point) { points_.insert(points_.end(), point.begin(), point.end()); }
  // False where rounding stops it. REQUIRES: a point; all components >= 0.
  [[nodiscard]] bool Solve();
  // Of the last solution: the largest component of the mixture itself, whatever it was found by; prices [G]
  // >= 0 that sum to 1. No mixture is below the least of price . point over the points.
  double value() const { return value_; }
  std::span<const double> prices() const { return prices_; }

 private:
  double At(std::size_t point, std::size_t type) const { return points_[point * types_ + type]; }
  void Start();
  bool SolveBasis();  // the multipliers of the basis and its dual
  bool Pivot(int entering);
  void Take();

  std::size_t types_;
  std::vector<double> points_;   // [K, G]
  std::vector<int> basis_;       // [G + 1] a point >= 0; -1 - j: the slack of type j; kLevel: s
  std::vector<double> inverse_;  // [G + 1, G + 1] of the basis
  std::vector<double> multiplier_, dual_;
  std::vector<double> prices_;
  double value_ = 0.0;
};

}  // namespace berth::gavel
