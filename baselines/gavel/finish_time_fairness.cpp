// Finish-time fairness (Mahajan et al., NSDI 2020; Gavel's form: OSDI 2020 §4.2, finish_time_fairness.py).
//
// With D_i the finish time alone and r_i(rho) = (rho D_i - t_i) / remaining_i, a ratio rho is feasible iff
// the level LP with worth T_ij r_i(rho) reaches c >= 1. By LP duality 1/c(rho) = max over prices z of a sum
// of terms 1/r_i(rho), each convex in rho, so h = 1/c is convex and falling, and Newton's method on h(rho) =
// 1 with the slope that the prices give, h' = -h sum_i z_i D_i / (rho D_i - t_i), climbs to the optimum from
// below without overshooting. Each step leaves a proven lower bound (where its tangent is 1) and an upper one
// (the ratio its allocation reaches); they meet to 1e-9. From the ratio of the last decision, two or three
// LPs.
#include <algorithm>

#include "baselines/gavel/newton_ratio.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr double kRelativeGap = 1e-9;  // of the ratio, proven
constexpr double kWarmGap = 3e-8;      // the same for solver=warm, where one level less is worth more

struct Ratios {
  const Problem& problem;
  const std::vector<double>& alone;  // [m] D_i, s
  std::vector<double> work;          // [m] steps

  int jobs() const { return problem.jobs(); }
  double Floor() const {  // rho must exceed it: with infinite speed job i ends at t_i
    double floor = 0.0;
    for (int i = 0; i < jobs(); ++i) floor = std::max(floor, problem.since[U(i)] / alone[U(i)]);
    return floor;
  }
  double Reached(const std::vector<double>& speed) const {
    double worst = 0.0;
    for (int i = 0; i < jobs(); ++i)
      worst = std::max(worst, (problem.since[U(i)] + work[U(i)] / speed[U(i)]) / alone[U(i)]);
    return worst;
  }
  double Spare(int i, double rho) const { return rho * alone[U(i)] - problem.since[U(i)]; }
  std::vector<double> Scale(double rho) const {  // [m]
    std::vector<double> scale(work.size());
    for (int i = 0; i < jobs(); ++i) scale[U(i)] = Spare(i, rho) / work[U(i)];
    return scale;
  }
  std::vector<double> Worth(double rho) const {  // [m, G]
    std::vector<double> worth = problem.throughput;
    const std::vector<double> scale = Scale(rho);
    for (std::size_t k = 0; k < worth.size(); ++k) worth[k] *= scale[k / problem.workers.size()];
    return worth;
  }
};

bool Minimize(const Ratios& ratios, LevelLp& lp, double guess, Allocation& best, double& reached) {
  const Problem& problem = ratios.problem;
  best = IsolatedAllocation(problem);
  reached = ratios.Reached(EffectiveThroughput(problem, best));
  bool asked = false;
  LevelAnswer answer;
  const auto solve = [&](double rho, Allocation& x, NewtonStep& step) {
    asked = true;
    if (!lp.Level(problem, ratios.Worth(rho), answer)) return false;
    x = std::move(answer.x);
    step = {answer.level, ratios.Reached(EffectiveThroughput(problem, x)), answer.price};
    return true;
  };
  const double gap = lp.warm() ? kWarmGap : kRelativeGap;
  if (!NewtonRatio(ratios, solve, guess, gap, best, reached)) return false;
  if (!asked || lp.warm() || lp.method() == LpMethod::kSimplex) return true;
  // The reference's allocation lies inside the optimal face: solve once more there, at the ratio just found.
  if (lp.Maximize(problem, ratios.Worth(reached), answer)) {
    const double got = ratios.Reached(EffectiveThroughput(problem, answer.x));
    if (got <= reached * (1.0 + 1e-7)) reached = got, best = std::move(answer.x);
  }
  return true;
}

// Over combos: the proof above needs of the feasible set of speeds only that it is convex.
bool Minimize(const PackedProblem& problem, const Ratios& ratios, PackedLp& lp, PackedAllocation& best,
              double& reached) {
  best = {IsolatedAllocation(problem.base), {}, {}};
  reached = ratios.Reached(EffectiveThroughput(problem, best));
  KindsAnswer answer;
  const auto solve = [&](double rho, PackedAllocation& x, NewtonStep& step) {
    const std::vector<double> scale = ratios.Scale(rho);
    if (!lp.Maximize(problem, scale, answer)) return false;
    x = std::move(answer.x);
    for (std::size_t i = 0; i < scale.size(); ++i) answer.price[i] /= scale[i];  // of levels, not of speed
    step = {answer.level, ratios.Reached(EffectiveThroughput(problem, x)), answer.price};
    return true;
  };
  return NewtonRatio(ratios, solve, /*guess=*/0.0, kRelativeGap, best, reached);
}

}  // namespace

bool FinishTimeFairness::Solve(const Problem& problem, LevelLp& lp, Allocation& x, double* rho) {
  alone_ = progress_.Advance(problem);
  double reached = 0.0;
  Allocation best;
  if (!Minimize(Ratios{problem, alone_, problem.remaining}, lp, ratio_, best, reached)) return false;
  x = std::move(best);
  ratio_ = reached;
  if (rho != nullptr) *rho = reached;
  return true;
}

bool PackedFinishTimeFairness::Solve(const PackedProblem& problem, PackedLp& lp, PackedAllocation& x,
                                     double* rho) {
  const std::vector<double> alone = progress_.Advance(problem.base);
  double reached = 0.0;
  PackedAllocation best;
  std::vector<double> work = problem.base.remaining;
  for (std::size_t i = 0; i < work.size(); ++i) work[i] *= problem.base.weight[i];
  if (!Minimize(problem, Ratios{problem.base, alone, std::move(work)}, lp, best, reached)) return false;
  x = std::move(best);
  if (rho != nullptr) *rho = reached;
  return true;
}

namespace {

class FinishTimeFairnessPolicy final : public Objective {
 public:
  explicit FinishTimeFairnessPolicy(const ObjectiveOptions& options)
      : aware_(options.aware), lp_(options.method, options.lp_time_limit_s, options.warm) {}
  bool reads_future() const override { return true; }
  void Reset(std::uint64_t) override { fairness_.Reset(), lp_.Reset(); }
  bool Allocate(const Problem& problem, Allocation& x) override {
    return fairness_.Solve(aware_ ? problem : WithThroughputOf(problem, BasisType(problem)), lp_, x);
  }
  void Promised(const Problem& problem, const Allocation&, Promise& promise) const override {
    promise.worth = (aware_ ? problem : WithThroughputOf(problem, BasisType(problem))).throughput;
    for (int i = 0; i < problem.jobs(); ++i) {
      const double spare = fairness_.ratio() * fairness_.alone()[U(i)] - problem.since[U(i)];
      promise.least.push_back(problem.remaining[U(i)] / spare);
    }
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  bool aware_;
  LevelLp lp_;
  FinishTimeFairness fairness_;
};

class PackedFairnessObjective final : public PackedObjective {
 public:
  explicit PackedFairnessObjective(const ObjectiveOptions& options)
      : lp_(options.method, options.lp_time_limit_s) {}
  bool reads_future() const override { return true; }
  void Reset(std::uint64_t) override { fairness_.Reset(); }
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    return fairness_.Solve(problem, lp_, x);
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  PackedLp lp_;
  PackedFinishTimeFairness fairness_;
};

}  // namespace

ObjectiveInfo FinishTimeFairnessObjective() {
  return {.summary = "the worst finish time, over that of a run alone on the isolated share, is least",
          .source = "Mahajan et al., NSDI 2020; OSDI 2020 §4.2",
          .aware_name = "finish_time_fairness_perf",
          .agnostic_name = "finish_time_fairness",
          .fall_back = FallBack::kIsolated,
          .ties = true,
          .warm = true,
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<FinishTimeFairnessPolicy>(options);
          },
          .packed_name = "finish_time_fairness_packed",
          .make_packed = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<PackedObjective> {
            return std::make_unique<PackedFairnessObjective>(options);
          }};
}

}  // namespace berth::gavel
