// What LpSolver and SolveMip have solved, for tests that hold their answers against other solvers. Nobody
// else looks.
#pragma once

#include <functional>
#include <span>

#include "baselines/lp.hpp"

namespace berth {

struct SolvedProgram {
  const LpModel& model;
  LpStatus status;  // of SolveMip kTimeLimit: out of time or nodes, x is the best so far, if any
  std::span<const double> x = {};  // [n] empty = none
  double objective = 0.0;          // of x
  double bound = 0.0;              // no feasible point is better
  double gap = 0.0;                // relative, that was asked for
};

// Called after each solve on the thread of it; empty = nobody. To be changed while nothing is solved.
std::function<void(const SolvedProgram&)>& ProgramObserver();

}  // namespace berth
