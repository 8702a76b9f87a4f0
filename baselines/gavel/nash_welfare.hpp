// The strategy-proof policy: Nash welfare and the discounts that make it so (Cole, Gkatzelis and Goel,
// "Mechanism design for fair division", EC 2013, §3, the partial allocation mechanism).
#pragma once

#include <vector>

#include "baselines/gavel/problem.hpp"
#include "baselines/gavel/wide_shares.hpp"

namespace berth::gavel {

// max sum_i log U_i, U_i = gang_i / (weight_i prop_i) T_i . x_i, over the base constraints: the geometric
// mean is exp of its m-th part. By generated columns (wide_shares.hpp) over classes of jobs alike: at the
// optimum all of a class have the same utility, which is unique because the logarithm is strictly concave, so
// sharing alike is optimal.
//
// The proof: any prices p_j, q_i >= 0 of the constraints bound the optimum by
//   sum_j W_j p_j + sum_i q_i + sum_i (log max_j u_ij / (gang_i p_j + q_i) - 1),
// the maximum of the Lagrangian over x >= 0.
struct NashAnswer {
  Allocation x;                 // [m, G]
  std::vector<double> utility;  // [m] U_i
  double geometric_mean = 0.0;
  double gap = 0.0;  // of sum_i log U_i, proven, so relative in the geometric mean after division by m
  std::vector<double> type_price;  // [G] p_j
};
inline constexpr double kNashGap = 1e-9;  // per job
// False when the gap stays above kNashGap m, or when time runs out.
// `memory`: by generated columns that start from its point and leave one there.
[[nodiscard]] bool NashWelfare(const Problem& problem, NashAnswer& answer, ShareMemory* memory = nullptr,
                               double time_limit_s = kLpInfinity);

// d_i = product over k != i of U_k / U_k without i: what the presence of i leaves the others. [m], at most 1.
// `answer` is that of the whole problem. m further programs, which share the time.
[[nodiscard]] bool StrategyProofDiscounts(const Problem& problem, const NashAnswer& answer,
                                          std::vector<double>& discount, double time_limit_s = kLpInfinity);

}  // namespace berth::gavel
