#include "env/base/lbfgsb.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "env/base/check.hpp"
#include "env/base/limited_memory.hpp"
#include "env/base/line_search.hpp"

// Letters as in the paper of 1995. Sums are in the order of the published code: large terms cancel in them,
// and what is left must be what it had.
namespace berth {
namespace {

using Vector = std::vector<double>;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

class Search {
 public:
  Search(const Objective& objective, std::span<const double> start, std::span<const double> low,
         std::span<const double> high, const LbfgsbOptions& options)
      : objective_(objective),
        low_(low.begin(), low.end()),
        high_(high.begin(), high.end()),
        options_(options),
        n_(start.size()),
        x_(start.begin(), start.end()),
        g_(n_),
        g_at_(n_),
        memory_(options.memory) {
    BERTH_CHECK(low_.size() == n_ && high_.size() == n_, low_.size(), " ", high_.size(), " ", n_);
    for (std::size_t i = 0; i < n_; ++i) {
      BERTH_CHECK(low_[i] <= high_[i], low_[i], " ", high_[i]);
      x_[i] = std::min(std::max(x_[i], low_[i]), high_[i]);
      boxed_ &= std::isfinite(low_[i]) && std::isfinite(high_[i]);
      bounded_ |= Bounded(i);
      are_.free.push_back(i);
    }
  }

  LbfgsbResult Run() {
    Evaluate();
    if (ProjectedSlope() <= options_.gradient) return Result(LbfgsbResult::End::kGradient);
    for (;;) {
      if (!Minimise()) {  // rounding spoiled the curvature
        memory_.Forget();
        continue;
      }
      const double before = f_;
      if (!Advance()) {
        if (memory_.size() == 0) return Result(LbfgsbResult::End::kNoStep);
        memory_.Forget();
        continue;
      }
      ++iterations_;
      if (iterations_ >= options_.iterations || evaluations_ > options_.evaluations)
        return Result(LbfgsbResult::End::kLimit);
      if (ProjectedSlope() <= options_.gradient) return Result(LbfgsbResult::End::kGradient);
      const double most = std::max({std::abs(before), std::abs(f_), 1.0});
      if (before - f_ <= options_.decrease * most) return Result(LbfgsbResult::End::kDecrease);
      if (!Remember()) memory_.Forget();
    }
  }

 private:
  LbfgsbResult Result(LbfgsbResult::End end) const { return {x_, f_, iterations_, evaluations_, end}; }
  void Evaluate() {
    if (x_ != at_)
      at_ = x_, f_at_ = objective_(x_, g_at_), ++evaluations_;  // a line search may end where it was
    f_ = f_at_, g_ = g_at_;
  }
  bool Bounded(std::size_t i) const { return std::isfinite(low_[i]) || std::isfinite(high_[i]); }

  double ProjectedSlope() const {
    double most = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double g = g_[i] < 0.0 ? std::max(x_[i] - high_[i], g_[i]) : std::min(x_[i] - low_[i], g_[i]);
      most = std::max(most, std::abs(g));
    }
    return most;
  }

  // z_: where the model is least. First along the path of the projected gradient (section 4), then in the
  // space of what is free there (section 5).
  bool Minimise() {
    if (!bounded_ && memory_.size() > 0) {
      z_ = x_;
    } else {
      CauchyPoint();
    }
    return are_.free.empty() || memory_.size() == 0 || InSubspace();
  }

  void CauchyPoint() {
    const std::size_t m = memory_.size();
    Vector d(n_, 0.0), p(2 * m, 0.0);
    std::vector<Break> breaks;
    std::vector<char> held(n_, 0);
    double f1 = 0.0;
    bool endless = false;  // something moves that has no bound ahead
    bool moves = false;
    c_.assign(2 * m, 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
      const double down = -g_[i];
      const bool at_low = x_[i] - low_[i] <= 0.0, at_high = high_[i] - x_[i] <= 0.0;
      held[i] = low_[i] == high_[i] || (at_low ? down <= 0.0 : at_high && down >= 0.0);
      if (held[i] || (Bounded(i) && !at_low && !at_high && down == 0.0)) continue;
      moves = true;
      d[i] = down;
      f1 -= down * down;
      for (std::size_t j = 0; j < m; ++j) {
        p[j] += memory_.Change(j, i) * down;
        p[m + j] += memory_.Step(j, i) * down;
      }
      if (down < 0.0 && std::isfinite(low_[i])) {
        breaks.push_back({(x_[i] - low_[i]) / -down, i});
      } else if (down > 0.0 && std::isfinite(high_[i])) {
        breaks.push_back({(high_[i] - x_[i]) / down, i});
      } else if (down != 0.0) {
        endless = true;
      }
    }
    for (std::size_t j = 0; j < m; ++j) p[m + j] *= memory_.theta();
    z_ = x_;
    if (moves) Follow(d, f1, p, breaks, endless, held);
    Tell(held);
  }

  // From break to break of the path, until the model rises. c_ becomes W'(z_ - x).
  struct Break {
    double at;
    std::size_t i;  // x i gets to its bound
  };
  void Follow(Vector& d, double f1, Vector& p, std::vector<Break>& breaks, bool endless,
              std::vector<char>& held) {
    const std::size_t m = memory_.size();
    const double theta = memory_.theta();
    Vector v, row(2 * m);
    double f2 = -theta * f1;
    const double first_f2 = f2;
    if (m > 0) {
      memory_.Middle(p, v);
      f2 -= Dot(v, p);
    }
    double ahead = -f1 / f2, along = 0.0, last = 0.0;
    std::stable_sort(breaks.begin(), breaks.end(),
                     [](const Break& a, const Break& b) { return a.at < b.at; });
    for (std::size_t k = 0; k < breaks.size(); ++k) {
      const std::size_t i = breaks[k].i;
      const double dt = breaks[k].at - last;
      if (ahead < dt) break;
      last = breaks[k].at;
      along += dt;
      const double di = d[i];
      d[i] = 0.0;
      held[i] = 1;
      z_[i] = di > 0.0 ? high_[i] : low_[i];
      const double zi = z_[i] - x_[i];
      for (std::size_t j = 0; j < 2 * m; ++j) c_[j] += dt * p[j];
      if (k + 1 == breaks.size() && breaks.size() == n_) return;  // all are at bounds
      const double square = di * di;
      f1 = f1 + dt * f2 + square - theta * di * zi;
      f2 -= theta * square;
      if (m > 0) {
        for (std::size_t j = 0; j < m; ++j)
          row[j] = memory_.Change(j, i), row[m + j] = theta * memory_.Step(j, i);
        memory_.Middle(row, v);
        const double with_c = Dot(c_, v), with_p = Dot(p, v), with_row = Dot(row, v);
        for (std::size_t j = 0; j < 2 * m; ++j) p[j] -= di * row[j];
        f1 += di * with_c;
        f2 = f2 + 2.0 * di * with_p - square * with_row;
      }
      f2 = std::max(kEpsilon * first_f2, f2);
      ahead = k + 1 == breaks.size() && !endless ? 0.0 : -f1 / f2;
    }
    if (ahead <= 0.0) ahead = 0.0;
    along += ahead;
    for (std::size_t i = 0; i < n_; ++i) z_[i] += along * d[i];
    for (std::size_t j = 0; j < 2 * m; ++j) c_[j] += ahead * p[j];
  }

  // Who is free now, and for whom that changed since the last iteration.
  void Tell(const std::vector<char>& held) {
    LimitedMemory::Freedom now;
    if (iterations_ > 0) {
      for (std::size_t i : are_.bound) {
        if (held[i] == 0) now.freed.push_back(i);
      }
      for (auto i = are_.free.rbegin(); i != are_.free.rend(); ++i) {
        if (held[*i] != 0) now.stopped.push_back(*i);
      }
    }
    for (std::size_t i = 0; i < n_; ++i) {
      if (held[i] == 0) now.free.push_back(i);
    }
    for (std::size_t i = n_; i-- > 0;) {
      if (held[i] != 0) now.bound.push_back(i);
    }
    are_ = std::move(now);
  }

  bool InSubspace() {
    const std::vector<std::size_t>& free = are_.free;
    // r = -Z'(g + B (z - x)): minus the model's slope at the Cauchy point
    Vector r(free.size()), a;
    if (!bounded_) {
      for (std::size_t i = 0; i < n_; ++i) r[i] = -g_[i];
    } else {
      const double theta = memory_.theta();
      for (std::size_t i = 0; i < free.size(); ++i) r[i] = -theta * (z_[free[i]] - x_[free[i]]) - g_[free[i]];
      memory_.Middle(c_, a);
      const std::size_t m = memory_.size();
      for (std::size_t j = 0; j < m; ++j) {
        const double of_y = a[j], of_s = theta * a[m + j];
        for (std::size_t i = 0; i < free.size(); ++i)
          r[i] = r[i] + memory_.Change(j, free[i]) * of_y + memory_.Step(j, free[i]) * of_s;
      }
    }
    if (!memory_.Newton(are_, r)) return false;
    ProjectNewton(r);
    return true;
  }

  // To the Newton point, projected on the bounds; and where that is no way down, back along the way to the
  // first bound (Morales and Nocedal 2011).
  void ProjectNewton(Vector& d) {
    const std::vector<std::size_t>& free = are_.free;
    const Vector cauchy = z_;
    bool bound = false;
    for (std::size_t i = 0; i < free.size(); ++i) {
      const std::size_t k = free[i];
      z_[k] = std::min(high_[k], std::max(low_[k], cauchy[k] + d[i]));
      bound |= z_[k] == low_[k] || z_[k] == high_[k];
    }
    if (!bound) return;
    double slope = 0.0;
    for (std::size_t i = 0; i < n_; ++i) slope += (z_[i] - x_[i]) * g_[i];
    if (!(slope > 0.0)) return;
    z_ = cauchy;
    double share = 1.0;
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < free.size(); ++i) {
      const double its = Share(d[i], low_[free[i]] - z_[free[i]], high_[free[i]] - z_[free[i]], share);
      if (its < share) share = its, first = i;
    }
    if (first && d[*first] != 0.0) {
      z_[free[*first]] = d[*first] > 0.0 ? high_[free[*first]] : low_[free[*first]];
      d[*first] = 0.0;
    }
    for (std::size_t i = 0; i < free.size(); ++i) z_[free[i]] += share * d[i];
  }

  // How much of a step d fits between `below` (<= 0) and `above`: at most `most`, which is less than it or
  // all.
  static double Share(double d, double below, double above, double most) {
    const double room = d < 0.0 ? below : above;
    if (d == 0.0 || !std::isfinite(room)) return most;
    if (d < 0.0 ? room >= 0.0 : room <= 0.0) return 0.0;
    return (d < 0.0 ? d * most < room : d * most > room) ? room / d : most;
  }

  // Along the line from x to z. False, and all as it was, where nothing lower was found.
  bool Advance() {
    from_ = x_, slope_from_ = g_;
    direction_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) direction_[i] = z_[i] - x_[i];
    length_square_ = Dot(direction_, direction_);
    const double before = f_;
    slope_before_ = slope_ = Dot(g_, direction_);
    if (slope_ >= 0.0) return false;
    const bool first = iterations_ == 0;
    double largest = !bounded_ || !first ? 1e10 : 1.0;
    for (std::size_t i = 0; bounded_ && !first && i < n_; ++i)
      largest = Share(direction_[i], low_[i] - x_[i], high_[i] - x_[i], largest);
    const double start = first && !boxed_ ? std::min(1.0 / std::sqrt(length_square_), largest) : 1.0;
    LineSearch search({.largest = largest}, f_, slope_, start);
    for (int k = 0; k < options_.tries; ++k) {
      step_ = search.step();
      if (step_ == 1.0) {
        x_ = z_;
      } else {
        for (std::size_t i = 0; i < n_; ++i) x_[i] = step_ * direction_[i] + from_[i];
      }
      Evaluate();
      slope_ = Dot(g_, direction_);
      if (search.Take(f_, slope_)) return true;
    }
    x_ = from_, g_ = slope_from_, f_ = before;
    return false;
  }

  bool Remember() {
    Vector change(n_);
    for (std::size_t i = 0; i < n_; ++i) change[i] = g_[i] - slope_from_[i];
    double sy = slope_ - slope_before_, steep = -slope_before_;
    if (step_ != 1.0) {
      sy *= step_, steep *= step_;
      for (double& d : direction_) d *= step_;
      length_square_ *= step_ * step_;
    }
    if (sy > kEpsilon * steep) return memory_.Learn(direction_, change, sy, length_square_);
    memory_.LearnNothing();
    return true;
  }

  const Objective& objective_;
  const Vector low_, high_;
  const LbfgsbOptions options_;
  const std::size_t n_;
  bool boxed_ = true, bounded_ = false;  // every x between two bounds; some x has a bound
  Vector x_, g_;
  double f_ = 0.0;
  Vector at_, g_at_;  // the last evaluation
  double f_at_ = 0.0;
  int iterations_ = 0, evaluations_ = 0;
  LimitedMemory memory_;

  Vector z_, c_;
  LimitedMemory::Freedom are_;
  Vector from_, slope_from_, direction_;  // of the line search
  double length_square_ = 0.0, slope_before_ = 0.0, slope_ = 0.0, step_ = 0.0;
};

}  // namespace

LbfgsbResult MinimizeLbfgsb(const Objective& objective, std::span<const double> start,
                            std::span<const double> low, std::span<const double> high,
                            const LbfgsbOptions& options) {
  return Search(objective, start, low, high, options).Run();
}

}  // namespace berth
