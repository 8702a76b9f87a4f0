// Gavel's objectives as functions from a problem to an allocation (Narayanan et al., OSDI 2020, §4, and the
// folder policies/ of its code). The agnostic forms are the same functions on a
// problem whose throughputs were levelled (WithUnitThroughput, WithThroughputOf).
//
// Each returns false when no solver gives an answer that passes the optimality check; the allocation is then
// untouched and the caller keeps the previous one (max-min, makespan) or takes the isolated split
// (finish-time fairness).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "baselines/gavel/level_lp.hpp"
#include "baselines/gavel/problem.hpp"
#include "baselines/gavel/wide_shares.hpp"
#include "baselines/lp.hpp"
#include "env/base/rng.hpp"

namespace berth::gavel {

// Least attained service: max min_i gang_i (T_i . x_i) / (weight_i prop_i). `level` gets the optimum.
[[nodiscard]] bool MaxMinFairness(const Problem& problem, LevelLp& lp, Allocation& x,
                                  double* level = nullptr);

// First in, first out, no LP: in order each job takes its fastest type among those with room (ties: the first
// in `type_order`); the first job that finds none stops the scan.
Allocation FifoAllocation(const Problem& problem, const std::vector<int>& type_order);

// First in, first out without a look at speeds, as the reference's base `fifo` means it (policies/fifo.py
// draws a type, then takes another): jobs that have GPUs keep them while the type has as many in service; the
// head of the queue takes a random type among those with room on which it can run; the first job that finds
// none stops the scan.
class QueueInOrder {
 public:
  void Reset(std::uint64_t seed);
  Allocation Allocate(const Problem& problem);

 private:
  std::optional<Stream> random_;
  std::vector<int> type_of_;  // by key, -1 = none yet
};

// The exact shortest makespan T* (s) and an allocation that reaches it: max lambda = 1/T,
// (T_i . x_i) / remaining_i >= lambda.
struct MakespanAnswer {
  double seconds = 0.0;  // as x reaches it
  double least = 0.0;    // that no allocation undercuts; not of the bisection
  Allocation x;
};
[[nodiscard]] bool ExactMakespan(const Problem& problem, LevelLp& lp, MakespanAnswer& answer);

// The reference's bisection: lo = 100, hi = 1e6, while 1.05 lo < hi try the middle; if nothing was feasible,
// on from hi to 10 hi. It stops up to 5% above T*. Feasibility of a probe T is decided by T >= T*, which the
// exact LP gives with proof, so the sequence costs no further LP; the allocation is a feasible point at the
// last feasible T.
struct Probe {
  double seconds;
  bool feasible;
};
std::vector<Probe> BisectionSequence(double exact_seconds);
[[nodiscard]] bool BisectedMakespan(const Problem& problem, LevelLp& lp, MakespanAnswer& answer);

// min rho, (t_i + remaining_i / (T_i . x_i)) / (cum_i + remaining_i / isolated_i) <= rho. Keeps cum between
// calls.
class FinishTimeFairness {
 public:
  void Reset() { progress_.Reset(), ratio_ = 0.0; }
  // Takes the running state forward whether or not the LP succeeds. `rho` gets the ratio reached, within 1e-9
  // (relative) of the least.
  [[nodiscard]] bool Solve(const Problem& problem, LevelLp& lp, Allocation& x, double* rho = nullptr);
  // Of the last Solve: [m] cum_i + remaining_i / isolated_i, and the ratio reached.
  const std::vector<double>& alone() const { return alone_; }
  double ratio() const { return ratio_; }

 private:
  IsolatedProgress progress_;
  std::vector<double> alone_;
  double ratio_ = 0.0;
};

// Most steps per second, or per unit of money:
// max sum_ij T_ij / price_j x_ij over the base constraints, where `with_deadlines` also
// T_i . x_i >= remaining_i / left_i for every job with a deadline ahead; if not all of these can be kept,
// none is (the reference's fall-back). A deadline that has passed asks for nothing.
class ThroughputSum {
 public:
  // `warm`: from the last answer, without deadlines.
  explicit ThroughputSum(LpMethod method, double time_limit_s = kLpInfinity, bool warm = false)
      : lp_(method, time_limit_s), time_limit_s_(time_limit_s) {
    if (warm) memory_.emplace();
  }
  void Reset() {
    if (memory_) memory_->start = {};
  }

  // `price` [G] > 0. `feasible` gets whether all deadlines are kept, `type_price` [G] the duals of the GPUs.
  [[nodiscard]] bool Solve(const Problem& problem, std::span<const double> price, bool with_deadlines,
                           Allocation& x, bool* feasible = nullptr,
                           std::vector<double>* type_price = nullptr);
  const char* failure() const { return wide_timed_out_ ? Explain(LpStatus::kTimeLimit) : lp_.failure(); }

 private:
  LpStatus SolveWith(const Problem& problem, std::span<const double> value, bool with_deadlines);
  CheckedLp lp_;
  double time_limit_s_;
  bool wide_timed_out_ = false;  // the last Solve, by generated columns
  std::optional<ShareMemory> memory_;
};

// The types' prices, or all 1 where none is stated. Throws Error where only some are.
std::vector<double> Prices(const Problem& problem);

}  // namespace berth::gavel
