// The linear programs of packed policies, over shares x_c of combos c = (jobs, type) (OSDI 2020 §4.4):
//
//   sum over combos of type j of gang x_c <= W_j,   sum over combos of job i of x_c <= 1,   x >= 0,
//
// and with speed_i = sum over combos c of job i of its rate in c times x_c, one of
//   level:  max c,  scale_i speed_i >= c  for every i, by kinds of jobs (packed_kinds.hpp);
//   reach:  speed_i >= least_i;
//   sum:    max sum_c value_c x_c,  speed_i >= least_i where least_i > 0;
//   rise:   max sum_k z_k,  0 <= z_k <= top_k,  scale_i speed_i - z_k(i) >= least_i  for every i.
#pragma once

#include <span>

#include "baselines/gavel/packed_kinds.hpp"

namespace berth::gavel {

struct SpeedRow {
  double scale;  // > 0
  int rise;      // index of its z, -1 = none
  double least;
};
struct PackedRise {
  std::vector<double> rise;   // z
  std::vector<double> price;  // [m] >= 0: duals of the rows
  PackedAllocation x;
};

// Reused between solves; every answer is checked as CheckedLp does. False, or a status that is not kOptimal,
// leaves the answer untouched.
class PackedLp {
 public:
  explicit PackedLp(LpMethod method, double time_limit_s = kLpInfinity)
      : lp_(method, time_limit_s), time_limit_s_(time_limit_s) {}

  // REQUIRES: at least one job, each of which can run on a type with GPUs; scale [m] > 0.
  [[nodiscard]] bool Maximize(const PackedProblem& problem, std::span<const double> scale,
                              KindsAnswer& answer);
  [[nodiscard]] bool Reach(const PackedProblem& problem, std::span<const Combo> combos,
                           std::span<const double> least, PackedAllocation& x);
  [[nodiscard]] LpStatus MaximizeSum(const PackedProblem& problem, std::span<const Combo> combos,
                                     std::span<const double> value, std::span<const double> least,
                                     PackedAllocation& x);

  [[nodiscard]] LpStatus MaximizeRise(const PackedProblem& problem, std::span<const Combo> combos,
                                      std::span<const SpeedRow> rows, std::span<const double> top,
                                      LpMethod method, PackedRise& answer);

  LpMethod method() const { return lp_.method(); }
  int failed_checks() const { return lp_.failed_checks(); }
  const char* failure() const { return by_kinds_ != nullptr ? by_kinds_ : lp_.failure(); }

 private:
  // Columns with these values (none: 0), then rows of types and jobs.
  void Begin(const PackedProblem& problem, std::span<const Combo> combos, std::span<const double> value);
  void AddSpeed(int job, std::span<const Combo> combos, double scale);  // entries of the row being built

  CheckedLp lp_;
  double time_limit_s_;
  const char* by_kinds_ = nullptr;        // why Maximize had no answer
  std::vector<std::vector<int>> of_job_;  // [m] its combos
};

}  // namespace berth::gavel
