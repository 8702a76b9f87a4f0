#include "baselines/gavel/level_lp.hpp"

#include <algorithm>

#include "baselines/gavel/base_constraints.hpp"
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

bool LevelLp::SolveByAny(LpMethod first) {
  if (SolveChecked(first)) return true;
  for (const LpMethod other : {LpMethod::kSimplex, LpMethod::kInteriorPoint}) {
    if (other != first && SolveChecked(other)) return true;
  }
  return false;
}

bool LevelLp::SolveChecked(LpMethod method) {
  last_ = solver_.Solve(model_, method, solution_, time_limit_s_);
  if (last_ != LpStatus::kOptimal) return false;
  if (CheckOptimality(model_, solution_).Within(kTolerance)) return true;
  ++failed_checks_;
  return false;
}

const char* LevelLp::failure() const {
  return last_ == LpStatus::kOptimal ? "no LP answer passed the optimality check" : Explain(last_);
}

bool LevelLp::Maximize(const Problem& problem, std::span<const double> worth, LpMethod method,
                       LevelAnswer& answer) {
  const int m = problem.jobs(), types = problem.types();
  // The embedding's point depends on the scale of rows and columns: there they stand as in the reference.
  const bool as_reference = method == LpMethod::kEmbedding;
  const double unit = as_reference ? 1.0 : Unit(problem, worth);
  model_.Clear();
  model_.maximize = true;
  AddShares(problem, {}, model_);
  const int level = model_.AddColumn(1.0, as_reference ? -kLpInfinity : 0.0, kLpInfinity);
  AddBaseRows(problem, model_);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < types; ++j) {
      model_.AddEntry(static_cast<int>(problem.at(i, j)), worth[problem.at(i, j)] / unit);
    }
    model_.AddEntry(level, -1.0);
    model_.EndRow(0.0, kLpInfinity);
  }
  if (!SolveByAny(method)) return false;
  answer.level = solution_.x.back() * unit;
  TakeShares(problem, solution_, answer.x);
  answer.price.resize(U(m));
  for (int i = 0; i < m; ++i) {
    answer.price[U(i)] = std::max(0.0, -solution_.row_dual[U(types + m + i)]);
  }
  return true;
}

bool LevelLp::Reach(const Problem& problem, std::span<const double> worth, std::span<const double> least,
                    Allocation& x) {
  const bool as_reference = method_ == LpMethod::kEmbedding;
  model_.Clear();
  model_.maximize = true;
  AddShares(problem, {}, model_);
  AddBaseRows(problem, model_);
  for (int i = 0; i < problem.jobs(); ++i) {
    const double scale = as_reference ? 1.0 : least[U(i)];
    for (int j = 0; j < problem.types(); ++j) {
      model_.AddEntry(static_cast<int>(problem.at(i, j)), worth[problem.at(i, j)] / scale);
    }
    model_.EndRow(least[U(i)] / scale, kLpInfinity);
  }
  if (!SolveByAny(method_)) return false;
  TakeShares(problem, solution_, x);
  return true;
}

}  // namespace berth::gavel
