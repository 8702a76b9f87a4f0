// What a heterogeneity-aware policy is asked (Narayanan et al., OSDI 2020, §3-4) of jobs i on types j of
// W_j GPUs with throughputs T_ij; the two allocations that need no solver; and the columns and rows
// that all of Gavel's linear programs share: time shares x_ij and the base constraints.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "baselines/lp.hpp"

namespace berth::gavel {

// Who shares the cluster above the jobs (hierarchical policies).
struct Entity {
  double weight = 1.0;
  bool fifo = false;  // its jobs in order, or shared by weight
};

// m jobs in arrival order, G types. Columns are in the caller's order of types. What a policy does not read
// may stay empty.
struct Problem {
  std::vector<int> workers;        // [G] GPUs of the type
  std::vector<int> key;            // [m] ascending, names the job between calls (its index in the scenario)
  std::vector<int> gang;           // [m] GPUs
  std::vector<double> weight;      // [m] > 0
  std::vector<double> throughput;  // [m, G] steps/s of the whole gang; 0 = cannot run
  std::vector<double> remaining;   // [m] steps; empty for policies that do not read it
  std::vector<double> since;       // [m] s since arrival; empty likewise
  std::vector<double> left;        // [m] s to the deadline, infinite = none
  std::vector<int> tenant;         // [m] index into tenants
  std::vector<Entity> tenants;
  std::vector<std::string> type_names;  // [G]
  std::vector<double> price;            // [G] per hour; all 0 = not stated

  int jobs() const { return static_cast<int>(key.size()); }
  int types() const { return static_cast<int>(workers.size()); }
  std::size_t at(int job, int type) const {
    return static_cast<std::size_t>(job) * workers.size() + static_cast<std::size_t>(type);
  }
  void Clear();  // no jobs, no types; keeps the memory
};

// [m, G] fraction of wall-clock time that a job spends on a type: x >= 0, sum over jobs of gang x <= workers,
// sum over types <= 1.
using Allocation = std::vector<double>;

// x_ij = W_j / sum W for every job, whatever its gang.
Allocation ProportionalAllocation(const Problem& problem);
// [m] steps/s under it: sum_j T_ij W_j / sum_j W_j.
std::vector<double> ProportionalThroughput(const Problem& problem);

// [m] gang_i / (weight_i prop_i), and [m, G] that times T_ij: the worth of a job's time by which objectives
// compare jobs, 1 at weight and gang 1 under the proportional split.
std::vector<double> WorthScale(const Problem& problem);
std::vector<double> NormalizedWorth(const Problem& problem);

// Each job its m-th part of every type: (W_j / m) / gang, scaled down to a row sum of 1 where it is above.
Allocation IsolatedAllocation(const Problem& problem);
// [m] sum_j T_ij x_ij.
std::vector<double> EffectiveThroughput(const Problem& problem, std::span<const double> allocation);

// Types in alphabetical order: the reference's column order, by which it breaks ties.
std::vector<int> TypesByName(const Problem& problem);
// The type whose rates stand for all to the agnostic forms: v100, as in the reference, or the first.
int BasisType(const Problem& problem);

// Types that all run at 1 step/s: what an agnostic max-min policy sees. It does not see either where a job
// cannot run: recorded answers of the reference give time there.
Problem WithUnitThroughput(const Problem& problem);
// Types that all run at the rate of `type` (the reference hard-codes V100); a job that cannot run there is
// given its fastest type's rate, so that the problem keeps a solution.
Problem WithThroughputOf(const Problem& problem, int type);

// The denominators of finish-time fairness and what they remember: the time that a job would have taken alone
// on its isolated share of the cluster, whose size changes with the number of jobs.
class IsolatedProgress {
 public:
  void Reset() { memory_.clear(); }
  // [m] D_i, s: what the progress up to here is worth on the isolated shares of each call's time, and the
  // rest on today's. Every job must have steps left.
  std::vector<double> Advance(const Problem& problem);

 private:
  struct Memory {             // of a job, by its key
    double cumulative = 0.0;  // s alone on its isolated share that its progress so far is worth
    double remaining = 0.0, isolated = 0.0;  // steps and steps/s at the previous call
    bool seen = false;
  };
  std::vector<Memory> memory_;
};

// Columns x_ij >= 0, in the order of Problem::at, with these costs [m, G] (none: 0). Where a job stands for
// `members` [m] (none: 1) of a class, shares are those of each.
void AddShares(const Problem& problem, std::span<const double> cost, LpModel& model,
               std::span<const double> members = {});
// Rows sum_i gang_i x_ij <= W_j for every type, then sum_j x_ij <= 1 for every job. The shares are the first
// columns.
void AddBaseRows(const Problem& problem, LpModel& model, std::span<const double> members = {});
// The shares of a solution, clipped to [0, 1].
void TakeShares(const Problem& problem, const LpSolution& solution, Allocation& x);

}  // namespace berth::gavel
