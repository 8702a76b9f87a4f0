// Of class i let k_j be W^2 of its bounds, r and a that of its time and worth rows, w its worth. Given the
// prices of types and the level, its own equations have the determinant
//   F = r a + a sum k_j + r sum k_j w_j^2 + sum_{j<l} k_j k_l (w_j - w_l)^2,
// a sum of positive terms (Lagrange's identity), and every coefficient below is one of such sums or of
// differences of worths: little cancels however far the diagonal spreads, so no regularization is needed.
#include "baselines/gavel/share_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "baselines/gavel/lanes.hpp"
#include "env/base/check.hpp"

namespace berth::gavel {
namespace {

constexpr int kUnrolled = 6;

// kTypes: the number of types up to kUnrolled, so that loops over them are unrolled; 0 = any to kMostTypes.
template <int kTypes>
class TypedSystem final : public ShareSystem {
 public:
  explicit TypedSystem(const ShareProgram& program)
      : ShareSystem(program),
        n_(program.members.size()),
        worth_(program.worth.data()),
        members_(program.members.data()),
        gang_(program.gang.data()),
        rise_(program.rise.data()),
        types_(program.types()) {
    const Count G = types();
    for (int at = 0; at < G * (G + 1) / 2; ++at) inverse_[U(at)].resize(n_);
    for (int j = 0; j < G; ++j) {
      time_[U(j)].resize(n_);
      level_[U(j)].resize(n_);
    }
    for (auto* array : {&time_time_, &time_level_, &level_level_}) array->resize(n_);
    rises_ = program.rises();
  }

  void Multiply(const double* in, double* to) const override {
    const Count G = types();
    std::array<LaneSum, kMost> used;
    const double c = in[G * n_];
    EachEight(n_, [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      V sum = {}, worth = {};
      const V load = Load<V>(members_ + i) * Load<V>(gang_ + i);
      for (int j = 0; j < G; ++j) {
        const V share = Load<V>(in + U(j) * n_ + i);
        Store<V>(to + U(j) * n_ + i, -share);
        sum += share;
        worth += Load<V>(worth_ + U(j) * n_ + i) * share;
        used[U(j)].Add(load * share);
      }
      Store<V>(to + G * n_ + i, sum);
      Store<V>(to + (G + 1) * n_ + i, Load<V>(rise_ + i) * c - worth);
    });
    for (int j = 0; j < G; ++j) to[(G + 2) * n_ + U(j)] = used[U(j)].Total();
  }

  void MultiplyTransposed(const double* in, double* to) const override {
    const Count G = types();
    std::array<double, kMost> price;
    for (int j = 0; j < G; ++j) price[U(j)] = in[(G + 2) * n_ + U(j)];
    LaneSum c;
    EachEight(n_, [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      const V time = Load<V>(in + G * n_ + i), level = Load<V>(in + (G + 1) * n_ + i),
              gang = Load<V>(gang_ + i);
      for (int j = 0; j < G; ++j) {
        Store<V>(to + U(j) * n_ + i, time - Load<V>(in + U(j) * n_ + i) -
                                         Load<V>(worth_ + U(j) * n_ + i) * level + gang * price[U(j)]);
      }
      c.Add(Load<V>(members_ + i) * Load<V>(rise_ + i) * level);
    });
    to[G * n_] = c.Total();
  }

  bool Factorize(const double* w2, double corner) override {
    const Count G = types();
    w2_ = w2;
    corner_of_c_ = corner;
    std::array<LaneSum, kPairs> loads;
    std::array<LaneSum, kMost> border;
    LaneSum of_c;
    EachEight(n_, [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      const V r = Load<V>(w2 + G * n_ + i), a = Load<V>(w2 + (G + 1) * n_ + i);
      std::array<V, kMost> k, w, without;   // without: F less the terms with k_j
      V sum = {}, first = {}, second = {};  // of k, k w, k w^2
      for (int j = 0; j < G; ++j) {
        k[U(j)] = Load<V>(w2 + U(j) * n_ + i);
        w[U(j)] = Load<V>(worth_ + U(j) * n_ + i);
        sum += k[U(j)];
        first += k[U(j)] * w[U(j)];
        second += k[U(j)] * w[U(j)] * w[U(j)];
        without[U(j)] = r * a;
      }
      V f = r * a + a * sum + r * second;
      for (int l = 0; l < G; ++l) {
        const V one = k[U(l)] * (a + r * w[U(l)] * w[U(l)]);
        for (int j = 0; j < G; ++j) {
          if (j != l) without[U(j)] += one;
        }
        for (int o = l + 1; o < G; ++o) {
          const V two = k[U(l)] * k[U(o)] * (w[U(l)] - w[U(o)]) * (w[U(l)] - w[U(o)]);
          f += two;
          for (int j = 0; j < G; ++j) {
            if (j != l && j != o) without[U(j)] += two;
          }
        }
      }
      const V over = 1.0 / f;
      const V level_level = (r + sum) * over;
      Store<V>(time_time_.data() + i, (a + second) * over);
      Store<V>(time_level_.data() + i, first * over);
      Store<V>(level_level_.data() + i, level_level);
      const V members = Load<V>(members_ + i), gang = Load<V>(gang_ + i), rise = Load<V>(rise_ + i);
      const V load = members * gang;
      of_c.Add(members * rise * rise * level_level);
      int at = 0;
      for (int j = 0; j < G; ++j) {
        V by_time = a, by_level = r * w[U(j)];
        for (int l = 0; l < G; ++l) {
          by_time += k[U(l)] * w[U(l)] * (w[U(l)] - w[U(j)]);
          by_level += k[U(l)] * (w[U(j)] - w[U(l)]);
        }
        const V level = k[U(j)] * by_level * over;
        Store<V>(time_[U(j)].data() + i, k[U(j)] * by_time * over);
        Store<V>(level_[U(j)].data() + i, level);
        border[U(j)].Add(load * rise * level);
        for (int l = j; l < G; ++l, ++at) {
          V value;
          if (l == j) {
            value = k[U(j)] * without[U(j)] * over;
          } else {
            V both = a + r * w[U(j)] * w[U(l)];
            for (int o = 0; o < G; ++o) both += k[U(o)] * (w[U(o)] - w[U(j)]) * (w[U(o)] - w[U(l)]);
            value = -k[U(j)] * k[U(l)] * both * over;
          }
          Store<V>(inverse_[U(at)].data() + i, value);
          loads[U(at)].Add(load * gang * value);
        }
      }
    });
    return FactorizeBorder(Totals(loads), Totals(border), corner + of_c.Total());
  }

  void SolveOnce(const double* x, const double* z, double* to_x, double* to_z) const override {
    const Count G = types();
    // The classes given no prices of types and no level, summed into the border's right-hand side.
    std::array<LaneSum, kMost> used;
    LaneSum of_c;
    EachEight(n_, [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      const V zr = Load<V>(z + G * n_ + i), za = Load<V>(z + (G + 1) * n_ + i);
      std::array<V, kMost> t = {}, d = {};
      V level = -Load<V>(time_level_.data() + i) * zr - Load<V>(level_level_.data() + i) * za;
      for (int j = 0; j < G; ++j) {
        t[U(j)] = Load<V>(x + U(j) * n_ + i) - Load<V>(z + U(j) * n_ + i) / Load<V>(w2_ + U(j) * n_ + i);
        Store<V>(to_x + U(j) * n_ + i, t[U(j)]);
        level -= Load<V>(level_[U(j)].data() + i) * t[U(j)];
      }
      Apply<V>(i, t, zr, za, d);
      const V members = Load<V>(members_ + i), load = members * Load<V>(gang_ + i);
      for (int j = 0; j < G; ++j) used[U(j)].Add(load * d[U(j)]);
      of_c.Add(members * Load<V>(rise_ + i) * level);
    });
    std::array<double, kMost> price = Totals(used);
    for (int j = 0; j < G; ++j) price[U(j)] -= z[(G + 2) * n_ + U(j)];
    const double c = SolveBorder(price, x[G * n_] - of_c.Total());
    EachEight(n_, [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
      using V = typename decltype(lanes)::Vector;
      const V gang = Load<V>(gang_ + i);
      const V zr = Load<V>(z + G * n_ + i), za = Load<V>(z + (G + 1) * n_ + i) - Load<V>(rise_ + i) * c;
      std::array<V, kMost> t = {}, d = {};
      const V time_level = Load<V>(time_level_.data() + i);
      V time = -Load<V>(time_time_.data() + i) * zr - time_level * za;
      V level = -time_level * zr - Load<V>(level_level_.data() + i) * za;
      for (int j = 0; j < G; ++j) {
        t[U(j)] = Load<V>(to_x + U(j) * n_ + i) - gang * price[U(j)];
        time += Load<V>(time_[U(j)].data() + i) * t[U(j)];
        level -= Load<V>(level_[U(j)].data() + i) * t[U(j)];
      }
      Apply<V>(i, t, zr, za, d);
      for (int j = 0; j < G; ++j) {
        Store<V>(to_x + U(j) * n_ + i, d[U(j)]);
        // By the row where its W^2 is large, by the column where it is small: neither then loses digits.
        const V w2 = Load<V>(w2_ + U(j) * n_ + i);
        const V by_row = -(d[U(j)] + Load<V>(z + U(j) * n_ + i)) / w2;
        const V by_column =
            time - Load<V>(worth_ + U(j) * n_ + i) * level + gang * price[U(j)] - Load<V>(x + U(j) * n_ + i);
        Store<V>(to_z + U(j) * n_ + i, w2 > 1.0 ? by_row : by_column);
      }
      Store<V>(to_z + G * n_ + i, time);
      Store<V>(to_z + (G + 1) * n_ + i, level);
    });
    to_x[G * n_] = c;
    for (int j = 0; j < G; ++j) to_z[(G + 2) * n_ + U(j)] = price[U(j)];
  }

 private:
  static constexpr double kLeastPivot = 1e-14;
  static constexpr int kMost = kTypes > 0 ? kTypes : kMostTypes;
  static constexpr int kPairs = kMost * (kMost + 1) / 2;
  static constexpr std::size_t U(int i) { return static_cast<std::size_t>(i); }
  using Count = std::conditional_t<(kTypes > 0), std::integral_constant<int, kTypes>, int>;
  Count types() const {
    if constexpr (kTypes > 0)
      return {};
    else
      return types_;
  }
  template <std::size_t N>
  static std::array<double, N> Totals(const std::array<LaneSum, N>& sums) {
    std::array<double, N> totals;
    for (std::size_t k = 0; k < N; ++k) totals[k] = sums[k].Total();
    return totals;
  }

  // The shares of class i: the inverse of its block times t, and what its two rows' right-hand sides add.
  template <class V>
  BERTH_INLINE void Apply(std::size_t i, const std::array<V, kMost>& t, const V& zr, const V& za,
                          std::array<V, kMost>& d) const {
    const Count G = types();
    for (int j = 0; j < G; ++j) {
      d[U(j)] = Load<V>(time_[U(j)].data() + i) * zr - Load<V>(level_[U(j)].data() + i) * za;
    }
    int at = 0;
    for (int j = 0; j < G; ++j) {
      d[U(j)] += Load<V>(inverse_[U(at++)].data() + i) * t[U(j)];
      for (int l = j + 1; l < G; ++l, ++at) {
        const V value = Load<V>(inverse_[U(at)].data() + i);
        d[U(j)] += value * t[U(l)];
        d[U(l)] += value * t[U(j)];
      }
    }
  }

  // Types: S price - v c = right, level: v . price + corner c = right_c; S is the sum of classes plus W^2.
  bool FactorizeBorder(const std::array<double, kPairs>& loads, const std::array<double, kMost>& border,
                       double corner) {
    const Count G = types();
    int at = 0;
    for (int j = 0; j < G; ++j) {  // Cholesky, row by row of the upper half
      for (int l = j; l < G; ++l, ++at) {
        double value = loads[U(at)] + (l == j ? w2_[(G + 2) * n_ + U(j)] : 0.0);
        const double least = kLeastPivot * value;
        for (int o = 0; o < j; ++o) value -= root_[U(o)][U(j)] * root_[U(o)][U(l)];
        if (l == j) value = std::max(value, least);  // what is below is rounding; refinement makes up for it
        root_[U(j)][U(l)] = l == j ? std::sqrt(value) : value / root_[U(j)][U(j)];
      }
    }
    border_ = by_border_ = border;
    SolveTypes(by_border_);
    corner_ = corner;
    for (int j = 0; j < G; ++j) corner_ += border_[U(j)] * by_border_[U(j)];
    return std::isfinite(corner_) && (!rises_ || corner_ > 0.0);
  }
  void SolveTypes(std::array<double, kMost>& right) const {
    const Count G = types();
    for (int j = 0; j < G; ++j) {
      for (int o = 0; o < j; ++o) right[U(j)] -= root_[U(o)][U(j)] * right[U(o)];
      right[U(j)] /= root_[U(j)][U(j)];
    }
    for (int j = G - 1; j >= 0; --j) {
      for (int o = j + 1; o < G; ++o) right[U(j)] -= root_[U(j)][U(o)] * right[U(o)];
      right[U(j)] /= root_[U(j)][U(j)];
    }
  }
  // Makes prices of the right-hand side; returns c.
  double SolveBorder(std::array<double, kMost>& right, double right_c) const {
    const Count G = types();
    SolveTypes(right);
    if (!rises_) return 0.0;
    for (int j = 0; j < G; ++j) right_c -= border_[U(j)] * right[U(j)];
    const double c = right_c / corner_;
    for (int j = 0; j < G; ++j) right[U(j)] += c * by_border_[U(j)];
    return c;
  }

  std::size_t n_;
  const double *worth_, *members_, *gang_, *rise_;
  int types_;
  bool rises_ = false;
  // Of every class: the inverse of its block, upper half by rows; what its time and worth row add to its
  // shares; the inverse of the two rows' own equations.
  std::array<std::vector<double>, kPairs> inverse_;
  std::array<std::vector<double>, kMost> time_, level_;
  std::vector<double> time_time_, time_level_, level_level_;
  std::array<std::array<double, kMost>, kMost> root_ = {};
  std::array<double, kMost> border_, by_border_;
  double corner_ = 0.0;
};

template <int kTypes>
std::unique_ptr<ShareSystem> MakeTyped(const ShareProgram& program) {
  if (program.types() == kTypes) return std::make_unique<TypedSystem<kTypes>>(program);
  if constexpr (kTypes < kUnrolled) return MakeTyped<kTypes + 1>(program);
  return std::make_unique<TypedSystem<0>>(program);
}

double LargestSize(const double* from, std::size_t size) {
  LaneMost most;
  EachEight(size, [&](std::size_t k, auto lanes) BERTH_INLINE_LAMBDA {
    using V = typename decltype(lanes)::Vector;
    const V value = Load<V>(from + k);
    most.See(Most<V>(value, -value));
  });
  return most.Total();
}

void AddPart(double part, const std::vector<double>& step, double* to) {
  const double* from = step.data();
  EachEight(step.size(), [&](std::size_t k, auto lanes) BERTH_INLINE_LAMBDA {
    using V = typename decltype(lanes)::Vector;
    Store<V>(to + k, Load<V>(to + k) + part * Load<V>(from + k));
  });
}

}  // namespace

ShareSystem::ShareSystem(const ShareProgram& program) : workers_(program.workers) {
  const std::size_t n = program.members.size(), types = program.workers.size();
  columns_ = types * n + 1;
  for (std::size_t block = 0; block < types + 2; ++block) {
    weight_.insert(weight_.end(), program.members.begin(), program.members.end());
  }
  weight_.insert(weight_.end(), types, 1.0);
  for (auto* column : {&rx_, &ex_}) column->resize(columns_);
  for (auto* row : {&rz_, &ez_}) row->resize(weight_.size());
}

std::unique_ptr<ShareSystem> ShareSystem::Make(const ShareProgram& program) {
  BERTH_CHECK(program.types() >= 1 && program.types() <= kMostTypes, program.types(), " types");
  return MakeTyped<1>(program);
}

// In rows of types a GPU counts as one of all there are.
double ShareSystem::Size(const double* x, const double* z) const {
  const std::size_t classes = weight_.size() - workers_.size();
  double size = std::max(LargestSize(x, columns_), LargestSize(z, classes));
  for (std::size_t j = 0; j < workers_.size(); ++j)
    size = std::max(size, std::abs(z[classes + j]) / workers_[j]);
  return size;
}

double ShareSystem::Residual(const double* bx, const double* bz, const double* dx, const double* dz) {
  MultiplyTransposed(dz, rx_.data());
  rx_.back() += corner_of_c_ * dx[columns_ - 1];
  Multiply(dx, rz_.data());
  double *rx = rx_.data(), *rz = rz_.data();
  EachEight(columns_, [&](std::size_t k, auto lanes) BERTH_INLINE_LAMBDA {
    using V = typename decltype(lanes)::Vector;
    Store<V>(rx + k, Load<V>(bx + k) - Load<V>(rx + k));
  });
  EachEight(rz_.size(), [&](std::size_t k, auto lanes) BERTH_INLINE_LAMBDA {
    using V = typename decltype(lanes)::Vector;
    Store<V>(rz + k, Load<V>(bz + k) - Load<V>(rz + k) + Load<V>(w2_ + k) * Load<V>(dz + k));
  });
  return Size(rx, rz);
}

void ShareSystem::Solve(const double* bx, const double* bz, double* dx, double* dz, bool refine) {
  constexpr int kRefinements = 3;
  constexpr double kEnough = 1e-11;
  SolveOnce(bx, bz, dx, dz);
  if (!refine) return;
  const double enough = kEnough * (1.0 + Size(bx, bz));
  double error = Residual(bx, bz, dx, dz);
  for (int round = 0; round < kRefinements && error > enough; ++round) {
    SolveOnce(rx_.data(), rz_.data(), ex_.data(), ez_.data());
    AddPart(1.0, ex_, dx);
    AddPart(1.0, ez_, dz);
    const double next = Residual(bx, bz, dx, dz);
    if (!(next < error)) {
      AddPart(-1.0, ex_, dx);
      AddPart(-1.0, ez_, dz);
      break;
    }
    error = next;
  }
}

}  // namespace berth::gavel
