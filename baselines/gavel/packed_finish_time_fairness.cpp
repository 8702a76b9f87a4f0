// finish_time_fairness_packed (OSDI 2020 §4.2 with §4.4; gavel/SPEC.md §2): the Newton iteration of
// finish_time_fairness.cpp, whose proof needs of the feasible set of speeds only that it is convex, over
// combos.
#include <algorithm>
#include <cmath>

#include "baselines/gavel/packed_objective.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "env/check.hpp"

namespace berth::gavel {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

constexpr double kRelativeGap = 1e-9;
constexpr int kMaxSteps = 60;

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
  const double floor = ratios.Floor();
  best = {IsolatedAllocation(ratios.problem.base), {}, {}};
  double rho = reached = ratios.Reached(best);
  if (reached - floor <= kRelativeGap * reached) return true;  // as the unpacked one
  double low = floor;  // no ratio reached lies below: proven infeasible, or the floor
  PackedLevel answer;
  for (int step = 0; step < kMaxSteps; ++step) {
    if (!lp.Maximize(ratios.problem, combos, ratios.Scale(rho), LpMethod::kSimplex, answer)) return false;
    const double got = ratios.Reached(answer.x);
    if (got < reached) reached = got, best = answer.x;
    const double h = 1.0 / answer.level;
    if (h >= 1.0) low = std::max(low, rho);
    if (reached - low <= kRelativeGap * reached) break;
    double slope = 0.0, sum = 0.0;
    for (int i = 0; i < ratios.jobs(); ++i) {
      sum += answer.price[U(i)];
      slope -= answer.price[U(i)] * ratios.alone[U(i)] / ratios.Spare(i, rho);
    }
    const double next = rho - (h - 1.0) / (h * slope / sum);
    // At the floor itself some job would need infinite speed: a step onto it, or within rounding, goes half
    // way.
    if (next <= low || (low == floor && next - low <= kRelativeGap * rho)) {
      if (rho - low <= kRelativeGap * rho) break;
      rho = (low + rho) / 2.0;
    } else if (std::abs(next - rho) <= 1e-14 * rho) {
      break;
    } else {
      rho = std::min(next, reached);
    }
  }
  if (lp.method() == LpMethod::kSimplex) return true;
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
