#include "baselines/embedding.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <chrono>
#include <cmath>

namespace berth {
namespace {

using Vector = Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

// ECOS' settings.
constexpr double kEcosTolerance = 1e-8;  // residuals, gap
constexpr double kStepBack = 0.99;       // of the way to the boundary
constexpr double kLeastStep = 1e-6, kLargestStep = 0.999;
constexpr double kLeastCentring = 1e-4;
// Of larger programs Eigen's ordering of the matrix ended in a segmentation fault (456 types, 2,000 jobs).
constexpr std::size_t kMostEntries = 1'000'000;
constexpr double kRegularization = 7e-8;  // of the linear systems; taken back by refinement
constexpr int kRefinements = 9;
constexpr int kScalings = 3;
constexpr int kMaxIterations = 100;

// minimise c.x  subject to  G x + s = h, s >= 0. Which bound of the model a row came from.
struct ConeProgram {
  Sparse g;
  Vector c, h;
  Sparse in_row;             // of G's pattern: LpModel::in_row
  Vector columns, rows;      // members of each (LpModel::column_members, row_members)
  std::vector<int> row;      // of the model, -1 = a column's bound
  std::vector<double> sign;  // +1: an upper bound, -1: a lower one
  bool ok = true;
};

ConeProgram Convert(const LpModel& model) {
  ConeProgram program;
  std::vector<Eigen::Triplet<double>> entries, in_row;  // entries of one column in one row
  std::vector<double> bounds, rows;
  const auto begin = [&](int row, double sign, double bound, double members) {
    rows.push_back(members);
    program.row.push_back(row);
    program.sign.push_back(sign);
    bounds.push_back(sign * bound);
    return static_cast<int>(bounds.size()) - 1;
  };
  for (int side : {-1, 1}) {
    for (int k = 0; k < model.columns(); ++k) {
      const auto u = static_cast<std::size_t>(k);
      program.ok = program.ok && model.lower[u] != model.upper[u];
      const double bound = side < 0 ? model.lower[u] : model.upper[u];
      if (!std::isfinite(bound)) continue;
      const int at = begin(-1, side, bound, model.column_members[u]);
      entries.emplace_back(at, k, side);
      in_row.emplace_back(at, k, 1.0);
    }
    for (int r = 0; r < model.rows(); ++r) {
      const auto u = static_cast<std::size_t>(r);
      program.ok = program.ok && model.row_lower[u] != model.row_upper[u];
      const double bound = side < 0 ? model.row_lower[u] : model.row_upper[u];
      if (!std::isfinite(bound)) continue;
      const int at = begin(r, side, bound, model.row_members[u]);
      for (auto e = static_cast<std::size_t>(model.row_begin[u]);
           e < static_cast<std::size_t>(model.row_begin[u + 1]); ++e) {
        entries.emplace_back(at, model.column[e], side * model.coefficient[e] / model.in_row[e]);
        in_row.emplace_back(at, model.column[e], model.in_row[e]);
      }
    }
  }
  program.g.resize(static_cast<Eigen::Index>(bounds.size()), model.columns());
  program.g.setFromTriplets(entries.begin(), entries.end());
  program.in_row.resize(program.g.rows(), program.g.cols());
  program.in_row.setFromTriplets(in_row.begin(), in_row.end());
  program.h = Eigen::Map<Vector>(bounds.data(), static_cast<Eigen::Index>(bounds.size()));
  program.rows = Eigen::Map<Vector>(rows.data(), static_cast<Eigen::Index>(rows.size()));
  program.columns = Eigen::Map<const Vector>(model.column_members.data(), model.columns());
  program.c = Eigen::Map<const Vector>(model.cost.data(), model.columns()).cwiseQuotient(program.columns);
  if (model.maximize) program.c = -program.c;
  return program;
}

// Ruiz' equilibration by the largest entries: G, h, c become those of x * columns and z * rows.
struct Scaling {
  Vector columns, rows;

  explicit Scaling(ConeProgram& program)
      : columns(Vector::Ones(program.g.cols())), rows(Vector::Ones(program.g.rows())) {
    for (int round = 0; round < kScalings; ++round) {
      Vector column = Vector::Zero(program.g.cols()), row = Vector::Zero(program.g.rows());
      const auto each = [&program](const auto& visit) {
        for (Eigen::Index k = 0; k < program.g.outerSize(); ++k) {
          for (Sparse::InnerIterator it(program.g, k); it; ++it) visit(it);
        }
      };
      each([&](const auto& it) {
        column[it.col()] = std::max(column[it.col()], std::abs(it.value()));
        row[it.row()] = std::max(row[it.row()], std::abs(it.value()));
      });
      const auto root = [](double largest) { return largest < 1e-6 ? 1.0 : std::sqrt(largest); };
      column = column.unaryExpr(root);
      row = row.unaryExpr(root);
      each([&](auto& it) { it.valueRef() /= column[it.col()] * row[it.row()]; });
      columns = columns.cwiseProduct(column);
      rows = rows.cwiseProduct(row);
    }
    program.h = program.h.cwiseQuotient(rows);
    program.c = program.c.cwiseQuotient(columns);
  }
};

// From one member of each orbit to unit vectors along the orbits: with u columns and v rows, w of the columns
// in one row, an entry becomes w sqrt(v / u) times itself (w v = w' u, w' of the rows with one column, so G'
// is right too). Inner products, least squares and norms are then those of the program written out; W^2 = s /
// z is that of one member.
void ToOrbits(ConeProgram& program) {
  const Vector columns = program.columns.cwiseSqrt(), rows = program.rows.cwiseSqrt();
  program.g.coeffs() *= program.in_row.coeffs();
  program.g = rows.asDiagonal() * program.g * columns.cwiseInverse().asDiagonal();
  program.c = program.c.cwiseProduct(columns);
  program.h = program.h.cwiseProduct(rows);
}

// [0 G'; G -W^2] solved with a little added to the diagonal, which refinement takes back.
class LinearSystem {
 public:
  explicit LinearSystem(const Sparse& g) : g_(g), n_(g.cols()), d_(g.rows()) {
    std::vector<Eigen::Triplet<double>> entries;
    for (Eigen::Index k = 0; k < n_; ++k) {
      entries.emplace_back(k, k, kRegularization);
      for (Sparse::InnerIterator it(g, k); it; ++it) {
        entries.emplace_back(static_cast<int>(n_ + it.row()), static_cast<int>(k), it.value());
      }
    }
    for (Eigen::Index r = 0; r < d_; ++r) entries.emplace_back(n_ + r, n_ + r, -1.0);
    matrix_.resize(n_ + d_, n_ + d_);
    matrix_.setFromTriplets(entries.begin(), entries.end());
    solver_.analyzePattern(matrix_);
  }
  bool Factorize(const Vector& w2) {
    w2_ = w2;
    for (Eigen::Index r = 0; r < d_; ++r) matrix_.coeffRef(n_ + r, n_ + r) = -w2[r] - kRegularization;
    solver_.factorize(matrix_);
    return solver_.info() == Eigen::Success;
  }
  // G' dz = bx,  G dx - W^2 dz = bz.
  void Solve(const Vector& bx, const Vector& bz, Vector& dx, Vector& dz) {
    Vector right(n_ + d_);
    right << bx, bz;
    Vector best = solver_.solve(right), residual;
    double error = Residual(bx, bz, best, residual);
    const double enough = 1e-14 * (1.0 + right.lpNorm<Eigen::Infinity>());
    for (int round = 0; round < kRefinements && error > enough; ++round) {
      const Vector next = best + solver_.solve(residual);
      Vector next_residual;
      const double next_error = Residual(bx, bz, next, next_residual);
      if (!(next_error < error)) break;
      const bool slow = next_error > error / 6.0;
      best = next, residual = next_residual, error = next_error;
      if (slow) break;
    }
    dx = best.head(n_);
    dz = best.tail(d_);
  }

 private:
  double Residual(const Vector& bx, const Vector& bz, const Vector& at, Vector& residual) const {
    residual.resize(n_ + d_);
    residual.head(n_) = bx - g_.transpose() * at.tail(d_);
    residual.tail(d_) = bz - g_ * at.head(n_) + w2_.cwiseProduct(at.tail(d_));
    return residual.lpNorm<Eigen::Infinity>();
  }

  const Sparse& g_;
  Eigen::Index n_, d_;
  Sparse matrix_;
  Vector w2_;
  Eigen::SimplicialLDLT<Sparse> solver_;
};

struct Point {
  Vector x, s, z;
  double tau = 1.0, kappa = 1.0;
};

// Into the cone: as it is when inside, else moved along (1, ..., 1), which is `root` along the orbits.
Vector Inside(const Vector& r, const Vector& root) {
  const double least = r.cwiseQuotient(root).minCoeff();
  return least > 0.0 ? r : Vector(r + (1.0 - least) * root);
}

// How far from `at` along `step` until a component or tau or kappa is 0.
double StepLength(const Point& at, const Point& step) {
  const double most = std::min(step.s.cwiseQuotient(at.s).minCoeff(), step.z.cwiseQuotient(at.z).minCoeff());
  double length = most < 0.0 ? -1.0 / most : kLpInfinity;
  if (step.tau < 0.0) length = std::min(length, -at.tau / step.tau);
  if (step.kappa < 0.0) length = std::min(length, -at.kappa / step.kappa);
  return std::clamp(length, kLeastStep, kLargestStep);
}

// The embedding's iteration on a scaled program.
class Embedding {
 public:
  explicit Embedding(const ConeProgram& program)
      : g_(program.g),
        c_(program.c),
        h_(program.h),
        members_(program.rows),
        root_(program.rows.cwiseSqrt()),
        rows_(program.rows.sum()),
        system_(program.g) {}

  LpStatus Run(double time_limit_s, Point& at) {
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&begin] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    if (!Start(at)) return LpStatus::kError;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      if (passed() >= time_limit_s) return LpStatus::kTimeLimit;
      rx_ = g_.transpose() * at.z + at.tau * c_;
      rz_ = at.s + g_ * at.x - at.tau * h_;
      rt_ = at.kappa + c_.dot(at.x) + h_.dot(at.z);
      LpStatus status;
      if (Finished(at, status)) return status;
      if (!Step(at)) return LpStatus::kError;
    }
    return LpStatus::kError;
  }

 private:
  bool Start(Point& at) {
    const Eigen::Index d = g_.rows(), n = g_.cols();
    if (!system_.Factorize(Vector::Ones(d))) return false;
    Vector x, r;
    system_.Solve(Vector::Zero(n), h_, x, r);  // least squares: r = G x - h
    at.x = x;
    at.s = Inside(-r, root_);
    system_.Solve(-c_, Vector::Zero(d), x, r);  // the least z with G' z = -c
    at.z = Inside(r, root_);
    return true;
  }

  bool Finished(const Point& at, LpStatus& status) const {
    const double gap = at.s.dot(at.z), cx = c_.dot(at.x), hz = h_.dot(at.z);
    const double primal =
        rz_.norm() / std::max(1.0, std::max(1.0, h_.norm()) + at.x.norm() + at.s.norm()) / at.tau;
    const double dual = rx_.norm() / std::max(1.0, std::max(1.0, c_.norm()) + at.z.norm()) / at.tau;
    double relative = kLpInfinity;  // gap over the objective, where that has a sign
    if (cx < 0.0) {
      relative = gap * at.tau / -cx;
    } else if (hz < 0.0) {
      relative = gap * at.tau / -hz;
    }
    status = LpStatus::kOptimal;
    if (primal < kEcosTolerance && dual < kEcosTolerance && std::min(gap, relative) < kEcosTolerance)
      return true;
    // Certificates (Farkas): G' z = 0, h.z < 0; and G x + s = 0, c.x < 0.
    status = LpStatus::kInfeasible;
    if (hz < 0.0 && (g_.transpose() * at.z).norm() < kEcosTolerance * -hz && at.tau < at.kappa) return true;
    status = LpStatus::kUnbounded;
    return cx < 0.0 && (g_ * at.x + at.s).norm() < kEcosTolerance * -cx && at.tau < at.kappa;
  }

  // One predictor and corrector.
  bool Step(Point& at) {
    if (!system_.Factorize(at.s.cwiseQuotient(at.z))) return false;
    system_.Solve(-c_, h_, x1_, z1_);
    const double mu = (at.s.dot(at.z) + at.kappa * at.tau) / (rows_ + 1.0);
    Point affine;
    Direction(at, 1.0, at.s.cwiseProduct(at.z), at.tau * at.kappa, affine);
    const double reach = StepLength(at, affine), rest = 1.0 - reach;
    const double centring = std::clamp(rest * rest * rest, kLeastCentring, 1.0);
    Point step;
    Direction(at, 1.0 - centring,
              at.s.cwiseProduct(at.z) + affine.s.cwiseProduct(affine.z) - centring * mu * members_,
              at.tau * at.kappa + affine.tau * affine.kappa - centring * mu, step);
    const double length = kStepBack * StepLength(at, step);
    at.x += length * step.x;
    at.s += length * step.s;
    at.z += length * step.z;
    at.tau += length * step.tau;
    at.kappa += length * step.kappa;
    return at.x.allFinite() && at.s.minCoeff() > 0.0 && at.z.minCoeff() > 0.0 && at.tau > 0.0 &&
           at.kappa > 0.0;
  }

  // Residuals fall by `part`; s dz + z ds = -sz; tau dkappa + kappa dtau = -tk.
  void Direction(const Point& at, double part, const Vector& sz, double tk, Point& step) {
    Vector x2, z2;
    system_.Solve(-part * rx_, sz.cwiseQuotient(at.z) - part * rz_, x2, z2);
    const double down = -at.kappa / at.tau + c_.dot(x1_) + h_.dot(z1_);
    step.tau = (-part * rt_ + tk / at.tau - c_.dot(x2) - h_.dot(z2)) / down;
    step.x = x2 + step.tau * x1_;
    step.z = z2 + step.tau * z1_;
    step.s = -(sz + at.s.cwiseProduct(step.z)).cwiseQuotient(at.z);
    step.kappa = -(tk + at.kappa * step.tau) / at.tau;
  }

  const Sparse& g_;
  const Vector &c_, &h_, &members_;  // members_: [rows]
  Vector root_;                      // of members_
  double rows_;                      // of the program written out
  LinearSystem system_;
  Vector rx_, rz_, x1_, z1_;
  double rt_ = 0.0;
};

}  // namespace

LpStatus SolveEmbedding(const LpModel& model, LpSolution& solution, double time_limit_s) {
  if (model.column.size() > kMostEntries) return LpStatus::kError;
  ConeProgram program = Convert(model);
  if (!program.ok || program.h.size() == 0) return LpStatus::kError;
  const Scaling scaling(program);
  ToOrbits(program);
  Point at;
  const LpStatus status = Embedding(program).Run(time_limit_s, at);
  if (status != LpStatus::kOptimal) return status;
  const Vector x = at.x.cwiseQuotient(scaling.columns).cwiseQuotient(program.columns.cwiseSqrt()) / at.tau;
  const Vector z =
      at.z.cwiseQuotient(scaling.rows).cwiseProduct(program.rows.cwiseSqrt()) / at.tau;  // of all
  solution.x.assign(x.data(), x.data() + x.size());
  solution.row_dual.assign(model.row_lower.size(), 0.0);
  for (std::size_t k = 0; k < program.row.size(); ++k) {
    if (program.row[k] < 0) continue;
    const double price = -program.sign[k] * z[static_cast<Eigen::Index>(k)];
    solution.row_dual[static_cast<std::size_t>(program.row[k])] += model.maximize ? -price : price;
  }
  solution.objective = 0.0;
  for (std::size_t k = 0; k < model.cost.size(); ++k) solution.objective += model.cost[k] * solution.x[k];
  return status;
}

}  // namespace berth
