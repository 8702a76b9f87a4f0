// Which of many equally good allocations: the one that is nearest to the last. Optima of Gavel's programs are
// seldom unique, and one that is chosen anew at each decision moves jobs for nothing.
//
//   min  sum gang_i |x_ij - last_ij|   over all x that are as good as the solver's,
//
// over the types that a job can run on; gang x is GPUs. Whose first allocation it is, the solver's own point
// stands for the last. Among allocations equally near the choice is lexicographic: a change of a later job,
// and of a later type of it, weighs more by a part that is too small to matter otherwise.
#pragma once

#include <vector>

#include "baselines/gavel/problem.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

// What makes an allocation as good as another: sum_j worth_ij x_ij >= least_i for every job, and
// sum_ij value_ij x_ij >= sum. Either may be empty.
struct Promise {
  std::vector<double> worth, value;  // [m, G] >= 0
  std::vector<double> least;         // [m]
  double sum = 0.0;
};

// Thread rule: one thread at a time.
class LeastChange {
 public:
  explicit LeastChange(double time_limit_s) : lp_(LpMethod::kSimplex, time_limit_s) {}
  // `x` [m, G] keeps the promise on entry, and on return to 5e-8 relative, as near to `last` [m, G] as can
  // be; it stays as it is where the program has no proven answer. Beyond kMostShares only shares that one of
  // the two uses are chosen among.
  void Settle(const Problem& problem, const Promise& promise, const Allocation& last, Allocation& x);

 private:
  static constexpr std::size_t kMostShares = 20'000;
  void State(const Problem& problem, const Promise& promise, const Allocation& last, const Allocation& x);

  static bool Unused(const Problem& problem, const Promise& promise, int job, int type, double share);

  struct Part {  // of the program's columns, -1 = none
    double least = 0.0;
    int column = -1, beyond = -1;
  };
  CheckedLp lp_;
  std::vector<Part> parts_;  // [m, G]
  std::vector<int> rows_;    // jobs with rows of their own
};

}  // namespace berth::gavel
