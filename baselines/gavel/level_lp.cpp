#include "baselines/gavel/level_lp.hpp"

#include <algorithm>

#include "env/check.hpp"

namespace berth::gavel {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

// Relative. A vertex is good to 1e-9; a point in the interior stops at HiGHS' 1e-8, the gap scaled by the
// level.
constexpr double kTolerance = 1e-7;

// The scale of the level, so that the program's numbers are near 1 whatever the unit of `worth`: no job's
// level can exceed its best type's worth.
double Unit(const Problem& problem, std::span<const double> worth) {
  double unit = kLpInfinity;
  for (int i = 0; i < problem.jobs(); ++i) {
    double best = 0.0;
    for (int j = 0; j < problem.types(); ++j) best = std::max(best, worth[problem.at(i, j)]);
    unit = std::min(unit, best);
  }
  BERTH_CHECK(unit > 0.0 && unit < kLpInfinity, "a job is worth nothing on every type");
  return unit;
}

}  // namespace

void LevelLp::Build(const Problem& problem, std::span<const double> worth, double unit, double low,
                    double high) {
  const int m = problem.jobs(), types = problem.types();
  model_.Clear();
  model_.maximize = true;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < types; ++j) model_.AddColumn(0.0, 0.0, kLpInfinity);
  }
  const int level = model_.AddColumn(low == high ? 0.0 : 1.0, low, high);
  for (int j = 0; j < types; ++j) {
    for (int i = 0; i < m; ++i) model_.AddEntry(static_cast<int>(problem.at(i, j)), problem.gang[U(i)]);
    model_.EndRow(-kLpInfinity, problem.workers[U(j)]);
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < types; ++j) model_.AddEntry(static_cast<int>(problem.at(i, j)), 1.0);
    model_.EndRow(-kLpInfinity, 1.0);
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < types; ++j) {
      model_.AddEntry(static_cast<int>(problem.at(i, j)), worth[problem.at(i, j)] / unit);
    }
    model_.AddEntry(level, -1.0);
    model_.EndRow(0.0, kLpInfinity);
  }
}

bool LevelLp::SolveChecked(LpMethod method) {
  if (solver_.Solve(model_, method, solution_) != LpStatus::kOptimal) return false;
  if (CheckOptimality(model_, solution_).Within(kTolerance)) return true;
  ++failed_checks_;
  return false;
}

void LevelLp::TakeAllocation(const Problem& problem, Allocation& x) const {
  x.resize(U(problem.jobs()) * U(problem.types()));
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::clamp(solution_.x[k], 0.0, 1.0);
}

bool LevelLp::Maximize(const Problem& problem, std::span<const double> worth, LpMethod method,
                       LevelAnswer& answer) {
  const double unit = Unit(problem, worth);
  Build(problem, worth, unit, 0.0, kLpInfinity);
  const LpMethod other = method == LpMethod::kSimplex ? LpMethod::kInteriorPoint : LpMethod::kSimplex;
  if (!SolveChecked(method) && !SolveChecked(other)) return false;
  const int m = problem.jobs();
  answer.level = solution_.x.back() * unit;
  TakeAllocation(problem, answer.x);
  answer.price.resize(U(m));
  for (int i = 0; i < m; ++i) {
    answer.price[U(i)] = std::max(0.0, -solution_.row_dual[U(problem.types() + m + i)]);
  }
  return true;
}

bool LevelLp::Reach(const Problem& problem, std::span<const double> worth, double level, Allocation& x) {
  Build(problem, worth, level, 1.0, 1.0);
  const LpMethod other = method_ == LpMethod::kSimplex ? LpMethod::kInteriorPoint : LpMethod::kSimplex;
  if (!SolveChecked(method_) && !SolveChecked(other)) return false;
  TakeAllocation(problem, x);
  return true;
}

}  // namespace berth::gavel
