// The linear systems of interior-point methods on programs of shares (share_program.hpp), solved class by
// class.
//
// Rows of G x + s = h: x_ij >= 0 [G, n], then sum_j x_ij <= 1 [n], then worth_i . x_i - rise_i c >= least_i
// [n], then the types [G]. Columns: x [G, n], then c. A class's entry stands for each of its members; inner
// products weigh it by their number.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "baselines/gavel/share_program.hpp"

namespace berth::gavel {

// Refers to the program, which must outlive it. Vectors are [rows()] or [columns()]. Thread rule: one thread
// at a time.
class ShareSystem {
 public:
  virtual ~ShareSystem() = default;
  static constexpr int kMostTypes = 24;
  static std::unique_ptr<ShareSystem> Make(const ShareProgram& program);  // REQUIRES: 1 to kMostTypes types

  std::size_t rows() const { return weight_.size(); }
  std::size_t columns() const { return columns_; }
  const std::vector<double>& weight() const { return weight_; }  // [rows] members, 1 for the types

  virtual void Multiply(const double* x, double* out) const = 0;            // G x
  virtual void MultiplyTransposed(const double* z, double* out) const = 0;  // G' z, for each member
  // Takes W^2 > 0, which must outlive the solves; `corner` >= 0 is added to the diagonal of c. False when the
  // numbers leave the range of doubles.
  [[nodiscard]] virtual bool Factorize(const double* w2, double corner) = 0;
  // G' dz (+ corner dc) = bx,  G dx - W^2 dz = bz; with `refine` until the residual is a 1e-11th. Without,
  // its error grows with the spread of W^2: 1e-16 over the smallest, about.
  void Solve(const double* bx, const double* bz, double* dx, double* dz, bool refine);

 protected:
  explicit ShareSystem(const ShareProgram& program);
  virtual void SolveOnce(const double* bx, const double* bz, double* dx, double* dz) const = 0;

  const double* w2_ = nullptr;
  double corner_of_c_ = 0.0;

 private:
  double Size(const double* x, const double* z) const;
  double Residual(const double* bx, const double* bz, const double* dx, const double* dz);

  std::size_t columns_;
  std::vector<double> workers_, weight_;
  std::vector<double> rx_, rz_, ex_, ez_;  // residual, and the correction for it
};

}  // namespace berth::gavel
