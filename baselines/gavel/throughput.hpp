// Most steps per second, or per unit of money (OSDI 2020 §4.3; gavel/SPEC.md §2).
#pragma once

#include "baselines/checked_lp.hpp"
#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

// max sum_ij T_ij / price_j x_ij over the base constraints, where `with_deadlines` also
// T_i . x_i >= remaining_i / left_i for every job with a deadline ahead; if not all of these can be kept,
// none is (the reference's fall-back). A deadline that has passed asks for nothing.
class ThroughputSum {
 public:
  explicit ThroughputSum(LpMethod method, double time_limit_s = kLpInfinity) : lp_(method, time_limit_s) {}

  // `price` [G] > 0. `feasible` gets whether all deadlines are kept.
  [[nodiscard]] bool Solve(const Problem& problem, std::span<const double> price, bool with_deadlines,
                           Allocation& x, bool* feasible = nullptr);
  const char* failure() const { return lp_.failure(); }

 private:
  LpStatus SolveWith(const Problem& problem, std::span<const double> value, bool with_deadlines);
  CheckedLp lp_;
};

// The types' prices, or all 1 where none is stated. Throws Error where only some are.
std::vector<double> Prices(const Problem& problem);

}  // namespace berth::gavel
