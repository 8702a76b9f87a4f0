// Linear programs by the homogeneous self-dual embedding with Nesterov-Todd steps and Mehrotra's corrector:
// the interior-point method of ECOS (Domahidi, Chu and Boyd, "ECOS: an SOCP solver for embedded systems",
// ECC 2013, §III-IV; after Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010, §4-7),
// for linear programs alone, written from the papers.
//
// Why a second interior-point method: LP optima are not unique, and which point of the optimal face comes out
// decides simulated completion times. Gavel's published runs are ECOS', whose path is settled by the start,
// the scaling and the step rule. The same rules end within 1e-4 of its recorded allocations (tests).
#pragma once

#include "baselines/lp.hpp"

namespace berth {

// `solution` is written only when the answer is kOptimal: residuals and gap at 1e-8, as the reference asks.
// No presolve, no crossover. Rows and columns with lower = upper are not offered (kError): they leave no
// interior. Nor are programs of a million entries and more. Pure function of its arguments but for the clock.
[[nodiscard]] LpStatus SolveEmbedding(const LpModel& model, LpSolution& solution,
                                      double time_limit_s = kLpInfinity);

}  // namespace berth
