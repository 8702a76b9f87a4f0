#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "baselines/gavel/lanes.hpp"
#include "baselines/gavel/share_program.hpp"
#include "baselines/gavel/share_system.hpp"

namespace berth::gavel {
namespace {

using Array = Eigen::ArrayXd;

// ECOS' settings, as in baselines/embedding.cpp.
constexpr double kEcosTolerance = 1e-8;
constexpr double kEcosStepBack = 0.99;
constexpr double kLeastStep = 1e-6, kLargestStep = 0.999;
constexpr double kEcosLeastCentring = 1e-4;
constexpr int kScalings = 3;
constexpr int kMaxIterations = 100;
constexpr double kRefineBelow =
    1e-3;  // of the first gap; before, an error corrects itself in the steps to come

// Ruiz' equilibration by the largest entries. Only the start and the norms at the end depend on it, so the
// program itself stays as it is: what an equilibrated program would have as x, s, z is x * columns, s / rows,
// z * rows.
struct Scaling {
  Array columns, rows;

  explicit Scaling(const ShareProgram& program) {
    const Eigen::Index n = program.classes(), G = program.types();
    columns = Array::Ones(G * n + 1);
    rows = Array::Ones((G + 2) * n + G);
    Array column(columns.size()), row(rows.size());
    for (int round = 0; round < kScalings; ++round) {
      // The entries of the program as scaled so far, class by class.
      std::array<LaneMost, ShareSystem::kMostTypes> of_type;
      LaneMost of_c;
      EachEight(static_cast<std::size_t>(n), [&](std::size_t at, auto lanes) BERTH_INLINE_LAMBDA {
        using V = typename decltype(lanes)::Vector;
        const auto i = static_cast<Eigen::Index>(at);
        const V gang = Load<V>(&program.gang[at]);
        V time = {}, level = Load<V>(&program.rise[at]) / (Load<V>(&rows[(G + 1) * n + i]) * columns[G * n]);
        of_c.See(level);
        for (Eigen::Index j = 0; j < G; ++j) {
          const V scale = Load<V>(&columns[j * n + i]);
          const V bound = 1.0 / (Load<V>(&rows[j * n + i]) * scale);
          const V share = 1.0 / (Load<V>(&rows[G * n + i]) * scale);
          const V worth = Load<V>(&program.worth[static_cast<std::size_t>(j * n + i)]) /
                          (Load<V>(&rows[(G + 1) * n + i]) * scale);
          const V used = gang / (rows[(G + 2) * n + j] * scale);
          Store<V>(&column[j * n + i], Most<V>(Most<V>(bound, share), Most<V>(worth, used)));
          Store<V>(&row[j * n + i], bound);
          time = Most<V>(time, share);
          level = Most<V>(level, worth);
          of_type[static_cast<std::size_t>(j)].See(used);
        }
        Store<V>(&row[G * n + i], time);
        Store<V>(&row[(G + 1) * n + i], level);
      });
      column[G * n] = of_c.Total();
      for (Eigen::Index j = 0; j < G; ++j)
        row[(G + 2) * n + j] = of_type[static_cast<std::size_t>(j)].Total();
      const auto root = [](double largest) { return largest < 1e-6 ? 1.0 : std::sqrt(largest); };
      columns *= column.unaryExpr(root);
      rows *= row.unaryExpr(root);
    }
  }
};

struct Point {
  Array x, s, z;
  double tau = 1.0, kappa = 1.0;

  Point(Eigen::Index columns, Eigen::Index rows) : x(columns), s(rows), z(rows) {}
};

// Into the cone: as it is when inside, else moved along (1, ..., 1).
void MoveInside(Array& r) {
  const double least = r.minCoeff();
  if (least <= 0.0) r += 1.0 - least;
}

// `steepest`: the largest of -ds / s and -dz / z.
double StepLength(const Point& at, const Point& step, double steepest) {
  double length = steepest > 0.0 ? 1.0 / steepest : kLpInfinity;
  if (step.tau < 0.0) length = std::min(length, -at.tau / step.tau);
  if (step.kappa < 0.0) length = std::min(length, -at.kappa / step.kappa);
  return std::clamp(length, kLeastStep, kLargestStep);
}

// The iteration of baselines/embedding.cpp with inner products weighted by the members of classes.
class Iteration {
 public:
  explicit Iteration(const ShareProgram& program)
      : program_(program),
        system_(ShareSystem::Make(program)),
        weight_(
            Eigen::Map<const Array>(system_->weight().data(), static_cast<Eigen::Index>(system_->rows()))),
        scaling_(program),
        n_(program.classes()),
        shares_(program.types() * n_),
        d_(weight_.size()),
        at_(shares_ + 1, d_),
        step_(0, d_),
        h_(Array::Zero(d_)) {
    h_.segment(shares_, n_) = 1.0;
    for (Eigen::Index i = 0; i < n_; ++i) h_[shares_ + n_ + i] = -program.least[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j < program.types(); ++j)
      h_[shares_ + 2 * n_ + j] = program.workers[static_cast<std::size_t>(j)];
    for (Array* array : {&rx_, &x1_, &x2_, &bx_}) array->resize(shares_ + 1);
    for (Array* array : {&rz_, &z1_, &z2_, &bz_, &sz_, &w2_}) array->resize(d_);
    cost_ = program.rises() ? -1.0 : 0.0;
    all_rows_ = weight_.sum();
  }

  LpStatus Run(double time_limit_s, ShareAnswer& answer) {
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&begin] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    if (!Start()) return LpStatus::kError;
    double first_gap = 0.0;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      if (passed() >= time_limit_s) return LpStatus::kTimeLimit;
      Residuals();
      if (iteration == 0) first_gap = gap_;
      refine_ = gap_ < kRefineBelow * first_gap;
      LpStatus status;
      if (Finished(status)) {
        if (status == LpStatus::kOptimal) Take(answer);
        return status;
      }
      if (!Step()) return LpStatus::kError;
    }
    return LpStatus::kError;
  }

 private:
  double DotH(const Array& z) const {
    const double *weight = weight_.data(), *h = h_.data(), *other = z.data();
    LaneSum sum;
    EachEight(static_cast<std::size_t>(d_), [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      sum.Add(Load<V>(weight + i) * Load<V>(h + i) * Load<V>(other + i));
    });
    return sum.Total();
  }

  // What the iterate leaves of the equations, and what the next step starts from.
  void Residuals() {
    system_->MultiplyTransposed(at_.z.data(), rx_.data());
    level_price_ = rx_[shares_];
    rx_[shares_] += at_.tau * cost_;
    system_->Multiply(at_.x.data(), rz_.data());
    const double *weight = weight_.data(), *h = h_.data(), *at_s = at_.s.data(), *at_z = at_.z.data();
    double *rz = rz_.data(), *w2 = w2_.data(), *sz = sz_.data();
    const double tau = at_.tau;
    LaneSum gap, hz;
    EachEight(static_cast<std::size_t>(d_), [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      const V s = Load<V>(at_s + i), z = Load<V>(at_z + i), of_h = Load<V>(h + i);
      const V product = s * z, members = Load<V>(weight + i);
      Store<V>(rz + i, Load<V>(rz + i) + (s - tau * of_h));
      Store<V>(w2 + i, s / z);
      Store<V>(sz + i, product);
      gap.Add(members * product);
      hz.Add(members * of_h * z);
    });
    gap_ = gap.Total();
    hz_ = hz.Total();
    rt_ = at_.kappa + cost_ * at_.x[shares_] + hz_;
  }

  // Of rows and of columns, in the equilibrated program's norm.
  double RowNorm(const Array& r, const Array& scale) const {
    return std::sqrt((weight_ * (r * scale).square()).sum());
  }
  double ColumnNorm(const Array& x, const Array& scale) const {
    const double shares = (weight_.head(shares_) * (x.head(shares_) * scale.head(shares_)).square()).sum();
    const double c = x[shares_] * scale[shares_];
    return std::sqrt(shares + c * c);
  }

  bool Start() {
    w2_ = scaling_.rows.square();
    if (!system_->Factorize(w2_.data(), 0.0)) return false;
    bx_.setZero();
    system_->Solve(bx_.data(), h_.data(), at_.x.data(), at_.s.data(), refine_);  // least squares: r = G x - h
    at_.s *= -scaling_.rows;
    MoveInside(at_.s);
    at_.s *= scaling_.rows;
    bx_[shares_] = -cost_;
    bz_.setZero();
    system_->Solve(bx_.data(), bz_.data(), x1_.data(), at_.z.data(), refine_);  // the least z with G' z = -c
    at_.z *= scaling_.rows;
    MoveInside(at_.z);
    at_.z /= scaling_.rows;
    return true;
  }

  bool Finished(LpStatus& status) const {
    const double cx = cost_ * at_.x[shares_];
    double relative = kLpInfinity;
    if (cx < 0.0) {
      relative = gap_ * at_.tau / -cx;
    } else if (hz_ < 0.0) {
      relative = gap_ * at_.tau / -hz_;
    }
    const Array &rows = scaling_.rows, &columns = scaling_.columns;
    if (std::min(gap_, relative) < kEcosTolerance) {
      const Array over_rows = rows.inverse();
      const double primal = RowNorm(rz_, over_rows) /
                            std::max(1.0, std::max(1.0, RowNorm(h_, over_rows)) + ColumnNorm(at_.x, columns) +
                                              RowNorm(at_.s, over_rows)) /
                            at_.tau;
      const double dual =
          ColumnNorm(rx_, columns.inverse()) /
          std::max(1.0, std::max(1.0, std::abs(cost_) / columns[shares_]) + RowNorm(at_.z, rows)) / at_.tau;
      status = LpStatus::kOptimal;
      if (primal < kEcosTolerance && dual < kEcosTolerance) return true;
    }
    if (!(at_.tau < at_.kappa)) return false;
    status = LpStatus::kInfeasible;  // G' z = 0, h.z < 0 (Farkas); the level itself is bounded
    Array certificate = rx_;
    certificate[shares_] = level_price_;
    return hz_ < 0.0 && ColumnNorm(certificate, columns.inverse()) < kEcosTolerance * -hz_;
  }

  bool Step() {
    if (!system_->Factorize(w2_.data(), 0.0)) return false;
    bx_.setZero();
    bx_[shares_] = -cost_;
    system_->Solve(bx_.data(), h_.data(), x1_.data(), z1_.data(), refine_);
    const double mu = (gap_ + at_.kappa * at_.tau) / (all_rows_ + 1.0);
    down_ = -at_.kappa / at_.tau + cost_ * x1_[shares_] + DotH(z1_);
    double tk = at_.tau * at_.kappa;
    const double rest = 1.0 - Direction(1.0, tk);
    const double centring = std::clamp(rest * rest * rest, kEcosLeastCentring, 1.0);
    Correct(centring * mu);
    tk += step_.tau * step_.kappa - centring * mu;
    const double length = kEcosStepBack * Direction(1.0 - centring, tk);
    at_.tau += length * step_.tau;
    at_.kappa += length * step_.kappa;
    return Move(length) && at_.tau > 0.0 && at_.kappa > 0.0;
  }

  // Residuals fall by `part`; s dz + z ds = -sz; tau dkappa + kappa dtau = -tk. Gives back how far it goes.
  double Direction(double part, double tk) {
    bx_ = -part * rx_;
    const double *sz = sz_.data(), *rz = rz_.data(), *at_s = at_.s.data(), *at_z = at_.z.data();
    double* bz = bz_.data();
    EachEight(static_cast<std::size_t>(d_), [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      Store<V>(bz + i, Load<V>(sz + i) / Load<V>(at_z + i) - part * Load<V>(rz + i));
    });
    system_->Solve(bx_.data(), bz_.data(), x2_.data(), z2_.data(), refine_);
    step_.tau = (-part * rt_ + tk / at_.tau - cost_ * x2_[shares_] - DotH(z2_)) / down_;
    step_.kappa = -(tk + at_.kappa * step_.tau) / at_.tau;
    const double tau = step_.tau, *z1 = z1_.data(), *z2 = z2_.data();
    double *ds = step_.s.data(), *dz = step_.z.data();
    LaneMost steepest;
    EachEight(static_cast<std::size_t>(d_), [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      const V s = Load<V>(at_s + i), z = Load<V>(at_z + i);
      const V of_z = Load<V>(z2 + i) + tau * Load<V>(z1 + i);
      const V of_s = -(Load<V>(sz + i) + s * of_z) / z;
      Store<V>(dz + i, of_z);
      Store<V>(ds + i, of_s);
      steepest.See(Most<V>(-of_s / s, -of_z / z));
    });
    return StepLength(at_, step_, steepest.Total());
  }

  // Mehrotra's corrector: what the step just found leaves of the products.
  void Correct(double centre) {
    const double *ds = step_.s.data(), *dz = step_.z.data();
    double* sz = sz_.data();
    EachEight(static_cast<std::size_t>(d_), [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      Store<V>(sz + i, Load<V>(sz + i) + (Load<V>(ds + i) * Load<V>(dz + i) - centre));
    });
  }

  // False where that leaves the cone or the range of doubles.
  bool Move(double length) {
    at_.x += length * (x2_ + step_.tau * x1_);
    const double *ds = step_.s.data(), *dz = step_.z.data();
    double *s = at_.s.data(), *z = at_.z.data();
    LaneMost below(-kLpInfinity);
    EachEight(static_cast<std::size_t>(d_), [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      const V of_s = Load<V>(s + i) + length * Load<V>(ds + i),
              of_z = Load<V>(z + i) + length * Load<V>(dz + i);
      Store<V>(s + i, of_s);
      Store<V>(z + i, of_z);
      below.See(Most<V>(-of_s, -of_z));
    });
    return std::isfinite(at_.x.sum()) && below.Total() < 0.0;
  }

  void Take(ShareAnswer& answer) const {
    const auto take = [this](const Array& from, Eigen::Index begin, Eigen::Index size,
                             std::vector<double>& to) {
      to.resize(static_cast<std::size_t>(size));
      for (Eigen::Index k = 0; k < size; ++k) to[static_cast<std::size_t>(k)] = from[begin + k] / at_.tau;
    };
    take(at_.x, 0, shares_, answer.x);
    take(at_.z, shares_ + n_, n_, answer.price);
    take(at_.z, shares_ + 2 * n_, program_.types(), answer.type_price);
    answer.level = at_.x[shares_] / at_.tau;
  }

  const ShareProgram& program_;
  std::unique_ptr<ShareSystem> system_;
  Array weight_;  // [rows] members
  Scaling scaling_;
  Eigen::Index n_, shares_, d_;  // classes; G n; rows
  Point at_, step_;              // of the step, x is not kept
  Array h_, rx_, x1_, x2_, bx_, rz_, z1_, z2_, bz_, sz_, w2_;
  double cost_ = 0.0;      // of c; the other columns cost nothing
  double all_rows_ = 0.0;  // of the program written job by job
  bool refine_ = true;
  double level_price_ = 0.0;  // G' z of c
  double hz_ = 0.0, rt_ = 0.0, gap_ = 0.0, down_ = 0.0;
};

}  // namespace

LpStatus SolveShareEmbedding(const ShareProgram& program, ShareAnswer& answer, double time_limit_s) {
  if (program.classes() == 0 || program.types() > ShareSystem::kMostTypes) return LpStatus::kError;
  return Iteration(program).Run(time_limit_s, answer);
}

}  // namespace berth::gavel
