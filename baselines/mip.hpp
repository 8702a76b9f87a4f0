// Mixed-integer programs by HiGHS' branch and cut: an incumbent and a bound, whenever it is stopped.
#pragma once

#include <span>

#include "baselines/lp.hpp"

namespace berth {

struct MipLimits {
  double gap = 0.0;             // relative; stop when the incumbent is proven this close
  int nodes = 1000000000;       // of the search tree: repeatable on every machine
  double time_s = kLpInfinity;  // not repeatable
};

struct MipAnswer {
  bool found = false;      // x is feasible
  bool proven = false;     // within the gap asked for
  std::vector<double> x;   // [n]
  double objective = 0.0;  // of x
  double bound = 0.0;      // no feasible point is better
};

// `model.integer` lists the whole columns. `start` [n] is a feasible point to begin with, or empty. Not found
// when infeasible, or out of time or nodes before any point. Single-threaded, silent.
MipAnswer SolveMip(const LpModel& model, const MipLimits& limits, std::span<const double> start = {});

}  // namespace berth
