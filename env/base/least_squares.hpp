// Small linear least squares by normal equations and Cholesky, in plain arithmetic: the same bits everywhere.
//
//   NormalEquations fit(3);
//   for (...) fit.Add({1.0, x, x * x}, y);
//   std::vector<double> w = fit.Solve(1e-9);
#pragma once

#include <span>
#include <vector>

namespace berth {

// Accumulates A'A and A'y row by row; n unknowns. Thread rule: one thread at a time.
class NormalEquations {
 public:
  explicit NormalEquations(int unknowns);
  void Clear();
  void Add(std::span<const double> row, double y);  // row [n]
  // argmin |A w - y|^2 + sum_i ridge_i w_i^2 with ridge_i = `ridge`, or each its own. [n] Unknowns that
  // neither the rows nor a ridge determine are 0.
  std::vector<double> Solve(double ridge) const;
  std::vector<double> Solve(std::span<const double> ridge) const;

 private:
  int n_;
  std::vector<double> a_;  // [n, n] lower triangle
  std::vector<double> b_;  // [n]
};

}  // namespace berth
