// The one linear program behind all of Gavel's objectives used here. With a_ij the worth to job i of all its
// time on type j,
//
//   max c   s.t.  sum_i gang_i x_ij <= W_j,   sum_j x_ij <= 1,   x >= 0,   sum_j a_ij x_ij >= c for every i.
//
// max-min: a = gang T / (weight prop); makespan: a = T / remaining, c = 1/T*; finish-time fairness at a ratio
// rho: a = T (rho D - t) / remaining, feasible iff c >= 1.
#pragma once

#include <span>

#include "baselines/gavel/problem.hpp"
#include "baselines/gavel/share_program.hpp"
#include "baselines/gavel/wide_shares.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

struct LevelAnswer {
  double level = 0.0;              // c, as x reaches it
  double bound = 0.0;              // that no x exceeds
  Allocation x;                    // [m, G], clipped to [0, 1]
  std::vector<double> price;       // [m] >= 0, sum 1: duals of the rows of c
  std::vector<double> type_price;  // [G] >= 0: of a GPU, likewise
};

// Reused between solves. Every answer is checked before it is given, by CheckOptimality or, where classes of
// identical jobs are solved, by Prove.
class LevelLp {
 public:
  // `warm`: Maximize is Level.
  explicit LevelLp(LpMethod method, double time_limit_s = kLpInfinity, bool warm = false)
      : lp_(method, time_limit_s), time_limit_s_(time_limit_s), warm_(warm) {}
  void Reset() { memory_.start = {}; }  // of Level

  // False when no solver gives an answer that passes the check: `answer` is then untouched. REQUIRES: at
  // least one job, every row of `worth` [m, G] >= 0 with a positive entry. The method asked for comes first,
  // then simplex, then the interior point.
  [[nodiscard]] bool Maximize(const Problem& problem, std::span<const double> worth, LevelAnswer& answer) {
    return warm_ ? Level(problem, worth, answer) : Maximize(problem, worth, lp_.method(), answer);
  }
  [[nodiscard]] bool Maximize(const Problem& problem, std::span<const double> worth, LpMethod method,
                              LevelAnswer& answer);
  // The same where only the level counts and not which point reaches it, within 1e-9 (relative) of the bound:
  // by generated columns, from the last such answer as far as jobs are the same by key. A vertex where one
  // is asked for or that has no proof.
  [[nodiscard]] bool Level(const Problem& problem, std::span<const double> worth, LevelAnswer& answer);
  // Any x with worth_i . x_i >= least_i (no objective: what the reference's bisections keep). A vertex with
  // kSimplex, else the embedding's point: HiGHS' interior point is no more inside here than a vertex.
  [[nodiscard]] bool Reach(const Problem& problem, std::span<const double> worth,
                           std::span<const double> least, Allocation& x);

  LpMethod method() const { return lp_.method(); }
  bool warm() const { return warm_; }
  int failed_checks() const { return lp_.failed_checks() + failed_proofs_; }  // answers that were thrown away
  const char* failure() const { return failure_; }  // why the last call returned false

 private:
  enum class Way { kLevel, kInside, kReach };
  // Over classes: kOptimal once proven.
  LpStatus SolveShares(const Problem& problem, std::span<const double> worth, std::span<const double> least,
                       Way way);
  void Take(const Problem& problem, LevelAnswer& answer) const;

  CheckedLp lp_;
  double time_limit_s_;
  bool warm_;
  ShareProgram program_;
  JobClasses classes_;
  ShareAnswer shares_;
  double bound_ = 0.0;
  ShareMemory memory_;
  int failed_proofs_ = 0;
  const char* failure_ = "";
};

}  // namespace berth::gavel
