// A linear program whose answer is believed only once it is proven: every answer passes CheckOptimality,
// which knows nothing of the solvers, or is thrown away and another method tried.
#pragma once

#include "baselines/lp.hpp"

namespace berth {

class CheckedLp {
 public:
  explicit CheckedLp(LpMethod method, double time_limit_s = kLpInfinity)
      : method_(method), time_limit_s_(time_limit_s) {}

  LpModel& model() { return model_; }
  // kOptimal: solution() is within the tolerance of optimality. kInfeasible or kUnbounded: two methods say
  // so. kTimeLimit: a method ran out of its time; no other is tried. kError: none gave an answer that passes.
  // `first` comes first, then simplex, then HiGHS' interior point.
  [[nodiscard]] LpStatus Solve() { return Solve(method_); }
  [[nodiscard]] LpStatus Solve(LpMethod first);
  // The same, and no other method is tried: infeasible is then that method's word alone.
  [[nodiscard]] LpStatus SolveOnly(LpMethod method);
  const LpSolution& solution() const { return solution_; }

  LpMethod method() const { return method_; }
  int failed_checks() const { return failed_checks_; }  // answers that were thrown away
  const char* failure() const { return failure_; }      // why the last Solve was not kOptimal

 private:
  LpMethod method_;
  double time_limit_s_;
  LpSolver solver_;
  LpModel model_;
  LpSolution solution_;
  int failed_checks_ = 0;
  const char* failure_ = "";
};

}  // namespace berth
