#include "baselines/checked_lp.hpp"

namespace berth {
namespace {

// Relative. A vertex is good to 1e-9; a point in the interior stops at 1e-8, the gap scaled by the objective.
constexpr double kTolerance = 1e-7;

}  // namespace

LpStatus CheckedLp::SolveOnly(LpMethod method) {
  const LpStatus status = solver_.Solve(model_, method, solution_, time_limit_s_);
  failure_ = Explain(status);
  if (status != LpStatus::kOptimal) return status;
  if (CheckOptimality(model_, solution_).Within(kTolerance)) return status;
  failure_ = "no LP answer passed the optimality check";
  ++failed_checks_;
  return LpStatus::kError;
}

LpStatus CheckedLp::Solve(LpMethod first) {
  LpStatus before = SolveOnly(first);
  if (before == LpStatus::kOptimal || before == LpStatus::kTimeLimit) return before;
  for (const LpMethod other : {LpMethod::kSimplex, LpMethod::kInteriorPoint}) {
    if (other == first) continue;
    const LpStatus status = SolveOnly(other);
    if (status == LpStatus::kOptimal || status == LpStatus::kTimeLimit) return status;
    if (status == before && status != LpStatus::kError) return status;
    before = status;
  }
  return LpStatus::kError;
}

}  // namespace berth
