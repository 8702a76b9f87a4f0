// The least rho with  least_i / (rho alone_i - since_i) <= worth_i . x_i  for every job under the base
// constraints: finish-time fairness, and with alone = 1, since = 0 the shortest makespan. The left side is
// convex in rho, so this is one convex program, and its Newton systems are those of the linear programs of
// shares with one number more on the diagonal: primal-dual interior point with Mehrotra's corrector (Boyd and
// Vandenberghe, "Convex Optimization", 2004, §11.7; Mehrotra 1992), O(jobs G^2) an iteration.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "baselines/gavel/problem.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

struct RatioBounds {
  double reached = 0.0;  // by x
  double least = 0.0;    // no allocation has less: by weak duality from the prices of the same iterate
};

using EnoughRatio = std::function<bool(const RatioBounds& bounds)>;
inline bool WithinBillionth(const RatioBounds& bounds) {
  return bounds.reached - bounds.least <= 1e-9 * bounds.reached;
}

// `x` [m, G] and its ratio `bounds.reached` on entry, any that is feasible; better or equal ones on return.
// kOptimal once the two bounds are close `enough`; kError when that is not to be had, with what was found.
// REQUIRES: at least one job; remaining and alone > 0, reached alone_i > since_i.
[[nodiscard]] LpStatus LeastRatio(const Problem& problem, std::span<const double> alone,
                                  std::span<const double> since, const EnoughRatio& enough,
                                  double time_limit_s, Allocation& x, RatioBounds& bounds);

}  // namespace berth::gavel
