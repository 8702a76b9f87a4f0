// finish_time_fairness_packed (OSDI 2020 §4.2 with §4.4; gavel/SPEC.md §2): the Newton iteration of
// finish_time_fairness.cpp, whose proof needs of the feasible set of speeds only that it is convex, over
// combos.
#include <algorithm>

#include "baselines/gavel/newton_ratio.hpp"
#include "baselines/gavel/packed_objective.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

struct Ratios {
  const PackedProblem& problem;
  const std::vector<double>& alone;  // [m] s, D_i: the finish time alone

  int jobs() const { return problem.base.jobs(); }
  double Work(int i) const { return problem.base.remaining[U(i)] * problem.base.weight[U(i)]; }
  double Floor() const {
    double floor = 0.0;
    for (int i = 0; i < jobs(); ++i) floor = std::max(floor, problem.base.since[U(i)] / alone[U(i)]);
    return floor;
  }
  double Reached(const PackedAllocation& x) const {
    const std::vector<double> speed = EffectiveThroughput(problem, x);
    double worst = 0.0;
    for (int i = 0; i < jobs(); ++i) {
      worst = std::max(worst, (problem.base.since[U(i)] + Work(i) / speed[U(i)]) / alone[U(i)]);
    }
    return worst;
  }
  double Spare(int i, double rho) const { return rho * alone[U(i)] - problem.base.since[U(i)]; }
  std::vector<double> Scale(double rho) const {
    std::vector<double> scale(U(jobs()));
    for (int i = 0; i < jobs(); ++i) scale[U(i)] = Spare(i, rho) / Work(i);
    return scale;
  }
};

bool Minimize(const Ratios& ratios, PackedLp& lp, PackedAllocation& best, double& reached) {
  const std::vector<Combo> combos = UsefulCombos(ratios.problem);
  best = {IsolatedAllocation(ratios.problem.base), {}, {}};
  reached = ratios.Reached(best);
  bool asked = false;
  PackedLevel answer;
  const auto solve = [&](double rho, PackedAllocation& x, NewtonStep& step) {
    asked = true;
    if (!lp.Maximize(ratios.problem, combos, ratios.Scale(rho), LpMethod::kSimplex, answer)) return false;
    x = std::move(answer.x);
    step = {answer.level, answer.price};
    return true;
  };
  if (!NewtonRatio(ratios, solve, best, reached)) return false;
  if (lp.method() == LpMethod::kSimplex || !asked) return true;
  // The reference's allocation lies inside the optimal face: once more there, at the ratio just found.
  if (lp.Maximize(ratios.problem, combos, ratios.Scale(reached), lp.method(), answer)) {
    const double got = ratios.Reached(answer.x);
    if (got <= reached * (1.0 + 1e-7)) reached = got, best = std::move(answer.x);
  }
  return true;
}

class Policy final : public PackedObjective {
 public:
  explicit Policy(const ObjectiveOptions& options) : lp_(options.method, options.lp_time_limit_s) {}
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

bool PackedFinishTimeFairness::Solve(const PackedProblem& problem, PackedLp& lp, PackedAllocation& x,
                                     double* rho) {
  const std::vector<double> alone = progress_.Advance(problem.base);
  double reached = 0.0;
  PackedAllocation best;
  if (!Minimize({problem, alone}, lp, best, reached)) return false;
  x = std::move(best);
  if (rho != nullptr) *rho = reached;
  return true;
}

std::unique_ptr<PackedObjective> MakePackedFinishTimeFairness(const ObjectiveOptions& options, Params&) {
  return std::make_unique<Policy>(options);
}

}  // namespace berth::gavel
