// The part that all of Gavel's linear programs share: time shares x_ij and the base constraints
// (gavel/SPEC.md §1).
#pragma once

#include <span>

#include "baselines/gavel/problem.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

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
