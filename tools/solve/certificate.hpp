// What prices prove about allocations, from the numbers of the problem alone: nothing here knows how an
// allocation or its prices were found. Any prices will do; good ones leave a small gap (weak duality).
//
// For prices p_i >= 0 of the jobs' worth and q_j >= 0 of GPUs every feasible x has
//
//   sum_i p_i sum_j a_ij x_ij  <=  B(p, q) = sum_j W_j q_j + sum_i max(0, max_j p_i a_ij - gang_i q_j),
//
// the second sum being what each job's time is worth beyond the GPUs that it takes. From B follows:
//   the level    max min_i a_i . x_i          <= B / sum_i p_i;
//   the sum      max sum_ij v_ij x_ij         <= B(1, q) with a = v;
//   logarithms   max sum_i ln a_i . x_i       <= sum_j W_j q_j + sum_i min over t >= 0 of
//                                                t + ln max_j a_ij / (gang_i q_j + t) - 1,
//                the maximum of the Lagrangian over x;
//   the ratio    rho >= (t_i + R_i / T_i . x_i) / D_i for all i only if
//                sum_i p_i R_i / (rho D_i - t_i) <= B(p, q) with a = T, which small rho fail;
//   water        where p is positive for the jobs at a level and 0 for those above it, B(p, q) - p . u bounds
//                what one of them could rise while those at or below it keep theirs, times its price;
//   pairs        with prices t_i >= 0 of time and q_j the most that one or two jobs gain from a GPU of a
//   type,
//                p r - t alone (over the gang) or its sum over two that share one, every feasible x has
//                sum_i p_i speed_i <= sum_j W_j q_j + sum_i t_i, and the level is at most that over
//                sum_i p_i / scale_i.
#pragma once

#include <span>
#include <vector>

#include "baselines/gavel/combos.hpp"
#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

struct Certificate {
  double violation = 0.0;          // largest excess of a constraint, relative to its size
  double value = 0.0;              // what the allocation reaches
  double bound = 0.0;              // what none passes: above the value, of the ratio below it
  double gap = 0.0;                // |bound - value| relative to the value; of logarithms a job, absolute
  bool all_levels = true;          // of water filling; false: the bound is of the lowest level alone
  std::vector<double> job_price;   // [m]
  std::vector<double> type_price;  // [G]
  std::vector<double> time_price;  // [m] of pairs; the others follow from the bound
};

// Prices below 0 count as 0. All but those of pairs are O(m G).
double Violation(const Problem& problem, std::span<const double> x);
double PricedBound(const Problem& problem, std::span<const double> worth, std::span<const double> job_price,
                   std::span<const double> type_price);
Certificate CertifyLevel(const Problem& problem, std::span<const double> worth, std::span<const double> x,
                         std::span<const double> job_price, std::span<const double> type_price);
Certificate CertifySum(const Problem& problem, std::span<const double> value, std::span<const double> x,
                       std::span<const double> type_price);
Certificate CertifyLogs(const Problem& problem, std::span<const double> worth, std::span<const double> x,
                        std::span<const double> type_price);
// REQUIRES: remaining > 0; `alone` [m] is D, `since` [m] is t, s; prices of steps/s.
Certificate CertifyRatio(const Problem& problem, std::span<const double> alone, std::span<const double> since,
                         std::span<const double> x, std::span<const double> job_price,
                         std::span<const double> type_price);

// Levels of a water filling that differ by less than this part are one.
inline constexpr double kSameLevel = 1e-6;
// Of water filling: prices for each level, of the jobs at it at least 1.
struct WaterStage {
  double level = 0.0;
  std::vector<double> job_price, type_price;  // [m], [G]
};
// value: the lowest level; gap: the largest part of its level by which a job could rise above it without
// lowering one that has no more, infinite where no stage speaks of it; bound: the lowest level and its part.
Certificate CertifyWater(const Problem& problem, std::span<const double> worth, std::span<const double> x,
                         std::span<const WaterStage> stages);

// Of jobs that may share a GPU in pairs, scale [m] > 0: the value is min_i scale_i speed_i. O(m kinds G).
double PackedViolation(const PackedProblem& problem, const PackedAllocation& x);
Certificate CertifyPackedLevel(const PackedProblem& problem, std::span<const double> scale,
                               const PackedAllocation& x, std::span<const double> job_price,
                               std::span<const double> time_price);

}  // namespace berth::gavel
