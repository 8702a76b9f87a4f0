// The packed objectives as functions, for schedulers and for checks (OSDI 2020 §4.4).
#pragma once

#include <memory>
#include <vector>

#include "baselines/gavel/objective.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_lp.hpp"

namespace berth::gavel {

// max min_i gang_i speed_i / (weight_i prop_i), prop from the jobs alone.
[[nodiscard]] bool PackedMaxMin(const PackedProblem& problem, PackedLp& lp, PackedAllocation& x,
                                double* level = nullptr);

// As ExactMakespan (objectives.hpp). The reference stops up to 5% above it, at a point that is recorded
// nowhere.
struct PackedMakespanAnswer {
  double seconds = 0.0;
  PackedAllocation x;
};
[[nodiscard]] bool PackedMakespan(const PackedProblem& problem, PackedLp& lp, PackedMakespanAnswer& answer);

// min rho, (t_i + remaining_i weight_i / speed_i) / (cum_i + remaining_i / isolated_i) <= rho: the authors'
// FinishTimeFairnessPolicyWithPacking divides by weights here, not in isolated_i. Keeps cum between calls.
class PackedFinishTimeFairness {
 public:
  void Reset() { progress_.Reset(); }
  // Takes the running state forward whether or not the LP succeeds. `rho` gets the ratio reached, within 1e-9
  // (relative) of the least.
  [[nodiscard]] bool Solve(const PackedProblem& problem, PackedLp& lp, PackedAllocation& x,
                           double* rho = nullptr);

 private:
  IsolatedProgress progress_;
};

// Lexicographic max-min of net_i gang_i / weight_i, net = speed / prop: the filling of water_filling.hpp
// without tenants, over combos. True with the levels reached so far where a later LP fails; false where the
// first does.
struct PackedWaterLevels {
  PackedAllocation x;
  std::vector<double> level;  // [m] net gang / weight at which a job is held
};
[[nodiscard]] bool PackedWaterFilling(const PackedProblem& problem, PackedLp& lp, PackedWaterLevels& levels);
std::unique_ptr<PackedObjective> MakePackedWaterFilling(const ObjectiveOptions& options, Params& params);

// max sum over combos of both members' steps/s over the type's price; deadlines as ThroughputSum.
[[nodiscard]] bool PackedThroughputPerCost(const PackedProblem& problem, PackedLp& lp,
                                           std::span<const double> price, bool with_deadlines,
                                           PackedAllocation& x, bool* feasible = nullptr);

// fifo_perf, then each job still queued, in order, beside the job already placed alone (gang 1) where
// sum r_pair / r_alone on its type is largest (ties: the first placed), if above 1.5; the first job that
// finds none stops the scan. The reference passes over a head of a larger gang here; in order means that it
// stops.
PackedAllocation PackedFifo(const PackedProblem& problem, const std::vector<int>& type_order);

}  // namespace berth::gavel
