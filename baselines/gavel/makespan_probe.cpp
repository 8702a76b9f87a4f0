#include "baselines/gavel/makespan_probe.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "baselines/gavel/lanes.hpp"
#include "baselines/lp.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr int kMostTypes = 6;
constexpr int kMostQuestions = 60;  // of a probe
constexpr double kMargin = 1e-9;
constexpr double kSmoothing = 0.5;  // part of the best prices known

// What is read of every job, and what is found; arrays as MakespanProbe has them.
struct Jobs {
  std::size_t m;
  const double *gang, *worth, *over, *apart;
};
struct Cheapest {
  std::array<double, kMostTypes> gpus = {};  // that the jobs use
  double cost = 0.0;
};

// A job's cheapest shares with sum_j worth_j x_j >= need and sum_j x_j <= 1 are a vertex: one type that is
// fast enough, or all its time on two, of which one is not.
template <int G>
Cheapest FindCheapest(const Jobs& jobs, double need, const std::array<double, kMostTypes>& price) {
  const std::size_t m = jobs.m;
  std::array<LaneSum, G> used;
  LaneSum cost;
  EachEight(m, [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
    using V = typename decltype(lanes)::Vector;
    const V none = {}, never = none + kLpInfinity;
    std::array<V, G> share = {};
    V least = never;
    for (int j = 0; j < G; ++j) {
      const V alone = need * Load<V>(jobs.over + U(j) * m + i);
      const V its = Load<V>(jobs.worth + U(j) * m + i) >= need ? price[U(j)] * alone : never;
      const auto cheaper = its < least;
      for (int l = 0; l < j; ++l) share[U(l)] = cheaper ? none : share[U(l)];
      share[U(j)] = cheaper ? alone : none;
      least = cheaper ? its : least;
    }
    std::size_t pair = 0;
    for (int a = 0; a < G; ++a) {
      const V above_a = need - Load<V>(jobs.worth + U(a) * m + i);
      for (int b = a + 1; b < G; ++b, ++pair) {
        const V above_b = need - Load<V>(jobs.worth + U(b) * m + i);
        const V of_b = above_a * Load<V>(jobs.apart + pair * m + i), of_a = 1.0 - of_b;
        const V its = above_a * above_b < none ? price[U(a)] * of_a + price[U(b)] * of_b : never;
        const auto cheaper = its < least;
        for (int l = 0; l < G; ++l)
          share[U(l)] = cheaper ? (l == a ? of_a : l == b ? of_b : none) : share[U(l)];
        least = cheaper ? its : least;
      }
    }
    const V gang = Load<V>(jobs.gang + i);
    for (int j = 0; j < G; ++j) used[U(j)].Add(gang * share[U(j)]);
    cost.Add(gang * least);
  });
  Cheapest found;
  for (int j = 0; j < G; ++j) found.gpus[U(j)] = used[U(j)].Total();
  found.cost = cost.Total();
  return found;
}

template <int G = 1>
Cheapest Find(int types, const Jobs& jobs, double need, const std::array<double, kMostTypes>& price) {
  if (types == G) return FindCheapest<G>(jobs, need, price);
  if constexpr (G < kMostTypes) return Find<G + 1>(types, jobs, need, price);
  return {};
}

}  // namespace

MakespanProbe::MakespanProbe(const Problem& problem)
    : jobs_(problem.jobs()), types_(problem.types()), mixture_(problem.types()), possible_(kLpInfinity) {
  const std::size_t m = U(jobs_);
  gpus_.assign(problem.workers.begin(), problem.workers.end());
  gang_.assign(problem.gang.begin(), problem.gang.end());
  worth_.resize(m * U(types_));
  over_.resize(worth_.size());
  for (int i = 0; i < jobs_; ++i) {
    double most = 0.0;
    for (int j = 0; j < types_; ++j) {
      const double worth = problem.throughput[problem.at(i, j)] / problem.remaining[U(i)];
      worth_[U(j) * m + U(i)] = worth;
      over_[U(j) * m + U(i)] = worth > 0.0 ? 1.0 / worth : 0.0;
      most = std::max(most, worth);
    }
    BERTH_CHECK(most > 0.0, "job ", problem.key[U(i)], " has nothing left to do, or can run nowhere");
    impossible_ = std::max(impossible_, (1.0 - kMargin) / most);
  }
  for (int a = 0; a < types_; ++a) {
    for (int b = a + 1; b < types_; ++b) {
      for (std::size_t i = 0; i < m; ++i)
        apart_.push_back(1.0 / (worth_[U(b) * m + i] - worth_[U(a) * m + i]));
    }
  }
  used_.resize(U(types_));
  best_.assign(U(types_), 1.0 / types_);
}

double MakespanProbe::Ask(double seconds, std::span<const double> prices) {
  ++questions_;
  std::array<double, kMostTypes> price = {};  // of a GPU of the type
  for (int j = 0; j < types_; ++j) price[U(j)] = prices[U(j)] / gpus_[U(j)];
  const Jobs jobs = {U(jobs_), gang_.data(), worth_.data(), over_.data(), apart_.data()};
  const Cheapest found = Find(types_, jobs, 1.0 / seconds, price);
  for (int j = 0; j < types_; ++j) used_[U(j)] = found.gpus[U(j)] / gpus_[U(j)];
  return found.cost;
}

Verdict MakespanProbe::Try(double seconds) {
  if (seconds >= possible_) return Verdict::kFeasible;
  if (seconds <= impossible_) return Verdict::kInfeasible;
  if (types_ > kMostTypes) return Verdict::kUndecided;
  mixture_.Clear();
  double bound = 0.0;
  std::vector<double> prices = best_;
  for (int question = 0; question < kMostQuestions; ++question) {
    const double cost = Ask(seconds, prices);
    if (cost > bound) bound = cost, best_ = prices;
    if (cost > 1.0 + kMargin) {
      if (!std::isfinite(cost)) return Verdict::kUndecided;  // within rounding of a job's fastest time
      impossible_ = seconds;
      return Verdict::kInfeasible;
    }
    // T times the shares only gain room with T, so that for shorter times T times the cost does not fall.
    impossible_ = std::max(impossible_, seconds * cost * (1.0 - kMargin));
    mixture_.Add(used_);
    if (!mixture_.Solve()) return Verdict::kUndecided;
    if (mixture_.value() <= 1.0 - kMargin) {
      possible_ = seconds;
      return Verdict::kFeasible;
    }
    for (std::size_t j = 0; j < prices.size(); ++j)
      prices[j] = kSmoothing * best_[j] + (1.0 - kSmoothing) * mixture_.prices()[j];
  }
  return Verdict::kUndecided;
}

}  // namespace berth::gavel
