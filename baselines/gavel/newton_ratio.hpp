// The search for the least finish-time-fairness ratio, over whatever set of speeds an LP can describe: jobs
// alone or pairs too (finish_time_fairness.cpp, where the method is derived).
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace berth::gavel {

struct NewtonStep {
  double level = 0.0;             // c: the ratio asked for is feasible iff it is 1 or more
  double reached = 0.0;           // the ratio of the allocation
  std::span<const double> price;  // [m] >= 0
};

// `best` and `reached` hold an allocation and its ratio on entry, and a better or equal one afterwards,
// within `gap` (relative) of the least where the LPs are. From the ratio `guess`, or where that is none or
// too near the floor from `reached`. False when an LP has no answer.
//   ratios.jobs(), .Floor() (the ratio must exceed it), .alone [m] (s, D_i), .Spare(i, rho) = rho D_i - t_i
//   solve(rho, x, step) fills x and step, or gives back false
template <class Ratios, class Solve, class X>
[[nodiscard]] bool NewtonRatio(const Ratios& ratios, const Solve& solve, double guess, double gap, X& best,
                               double& reached) {
  constexpr int kMaxSteps = 60;
  const double floor = ratios.Floor();
  // A job at its very end has waited so long that what it is given no longer shows in its ratio, and no LP
  // can be written at it: nothing is better than the floor.
  if (reached - floor <= 1e-9 * reached) return true;
  const bool near = guess - floor > 1e-3 * (reached - floor);  // not where some job's row would be all but 0
  double rho = near ? std::min(guess, reached) : reached;
  double low = floor;  // proven infeasible, or the floor
  for (int step = 0; step < kMaxSteps; ++step) {
    X x;
    NewtonStep at;
    if (!solve(rho, x, at)) return false;
    const double got = at.reached;
    const double h = 1.0 / at.level;
    double slope = 0.0, sum = 0.0;
    for (int i = 0; i < ratios.jobs(); ++i) {
      const double price = at.price[static_cast<std::size_t>(i)];
      sum += price;
      slope -= price * ratios.alone[static_cast<std::size_t>(i)] / ratios.Spare(i, rho);
    }
    if (got < reached) reached = got, best = std::move(x);
    if (h >= 1.0) low = std::max(low, rho);
    if (reached - low <= gap * reached) break;
    const double next = rho - (h - 1.0) / (h * slope / sum);
    if (reached - next <= gap * reached) break;  // a convex function is nowhere below its tangent
    // At the floor itself some job would need infinite speed: a step onto it, or within rounding, goes half
    // way, as does one beyond what is proven. A step that does not move is the optimum.
    if (next <= low || (low == floor && next - low <= gap * rho)) {
      if (rho - low <= gap * rho) break;
      rho = (low + rho) / 2.0;
    } else if (std::abs(next - rho) <= 1e-14 * rho) {
      break;
    } else {
      rho = std::min(next, reached);
    }
  }
  return true;
}

}  // namespace berth::gavel
