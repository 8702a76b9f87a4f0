// The curvature of a function as its last steps showed it: the compact form of limited-memory BFGS matrices
// (Byrd, Nocedal and Schnabel, Math. Programming 63, 1994), as lbfgsb.cpp needs it.
//   B = theta I - W M W',  W = [Y, theta S],  M^-1 = [-D, L'; L, theta S'S]
// S are the last steps, Y the changes of the gradient in them, oldest first; S'Y = L + D + (upper part).
// Letters as in the paper of L-BFGS-B.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace berth {

inline double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// A square matrix, of which a Cholesky factor is the upper triangle R: A = R'R.
class SquareMatrix {
 public:
  void Resize(std::size_t size) { size_ = size, cells_.assign(size * size, 0.0); }
  double& operator()(std::size_t i, std::size_t j) { return cells_[i * size_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return cells_[i * size_ + j]; }
  bool Factor(std::size_t first, std::size_t end);  // of these rows; false = they are not positive definite
  // R'x = b and R x = b in place, for as many rows as x has.
  void SolveTransposed(std::span<double> x) const;
  void Solve(std::span<double> x) const;

 private:
  std::size_t size_ = 0;
  std::vector<double> cells_;
};

// Thread rule: one thread at a time.
class LimitedMemory {
 public:
  using Vector = std::vector<double>;
  explicit LimitedMemory(int most);  // steps

  std::size_t size() const { return steps_.size(); }
  double theta() const { return theta_; }
  double Step(std::size_t k, std::size_t i) const { return steps_[k][i]; }  // S, of x i in the k-th step
  double Change(std::size_t k, std::size_t i) const { return changes_[k][i]; }

  void Forget();
  // A step s and the change y of the gradient in it; `sy`, `ss` their products. False where the factor is not
  // positive definite.
  bool Learn(const Vector& step, const Vector& change, double sy, double ss);
  void LearnNothing() { learned_ = false; }
  void Middle(const Vector& v, Vector& p) const;  // p = M v, both of twice the size

  // Which x are free: those that are, those that are at bounds, and which of both are not as they were told
  // last.
  struct Freedom {
    std::vector<std::size_t> free, bound, freed, stopped;
  };
  // The Newton step among the free x: r, minus the slope there, becomes d = (Z'BZ)^-1 r. False as in Learn.
  bool Newton(const Freedom& of, Vector& r);

 private:
  bool FactorSubspace(const Freedom& of);

  std::size_t most_;
  std::vector<Vector> steps_, changes_;
  Vector curvature_, squares_;  // s'y and s's of each
  double theta_ = 1.0;
  bool learned_ = false;      // since the last line search
  std::size_t updates_ = 0;   // since Forget
  SquareMatrix sy_, middle_;  // S'Y (lower triangle), the factor of theta S'S + L D^-1 L'
  SquareMatrix products_;     // [Y'ZZ'Y, ; L_a + R_z, S'AA'S], lower triangle, of the most steps
  SquareMatrix k_;
};

}  // namespace berth
