// Gavel's linear programs over time shares with identical jobs written once. Jobs that a program cannot tell
// apart (same gang, worth, right-hand side) form a class; a point of the optimal face that treats them alike
// exists (the mean of any optimum over their permutations), and an interior-point method started
// symmetrically never leaves the alike points: with every row and column of a class weighted by its members
// its path is that of the program written job by job (quotient of an equitable partition; Boedi, Grundhoefer
// and Herr, "Symmetries of linear programs", 2010, Theorem 1).
//
//   max c   s.t.  sum_i members_i gang_i x_ij <= workers_j,   sum_j x_ij <= 1,   x >= 0,
//                 worth_i . x_i - rise_i c >= least_i            for every class i;
//
// without a rise anywhere: any such x, centred.
#pragma once

#include <span>
#include <vector>

#include "baselines/gavel/job_classes.hpp"
#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

struct ShareProgram {
  std::vector<double> workers;  // [G] > 0
  std::vector<double> members;  // [n] >= 1
  std::vector<double> gang;     // [n]
  std::vector<double> worth;    // [G, n], type by type; 0 = none
  std::vector<double> rise;     // [n] >= 0
  std::vector<double> least;    // [n]

  int classes() const { return static_cast<int>(members.size()); }
  int types() const { return static_cast<int>(workers.size()); }
  std::size_t at(int type, int its_class) const {
    return static_cast<std::size_t>(type) * members.size() + static_cast<std::size_t>(its_class);
  }
  bool rises() const;
};

struct ShareAnswer {
  double level = 0.0;              // c
  std::vector<double> x;           // [G, n] of each member
  std::vector<double> price;       // [n] >= 0: of each member's row of worth
  std::vector<double> type_price;  // [G] >= 0: of a GPU
};

// The program of these jobs, worth [m, G] as LevelLp's; `least` [m] empty = 0. Reuses the memory.
void StateShares(const Problem& problem, std::span<const double> worth, std::span<const double> least,
                 double rise, ShareProgram& program, JobClasses& classes);
// [m, G] from the shares of classes, clipped to [0, 1].
void SpreadShares(const JobClasses& classes, const ShareAnswer& answer, int types, Allocation& x);

// What the answer proves, by weak duality and knowing nothing of how it was found.
struct ShareProof {
  double infeasibility = 0.0;  // largest violation of a row, relative as CheckOptimality's
  double reached = 0.0;        // level that x reaches; without a rise the sum of all worth
  double bound = 0.0;          // that no x exceeds; of a sum where `least` is 0 and every price of worth is 1
};
ShareProof Prove(const ShareProgram& program, const ShareAnswer& answer);

// The interior point of baselines/embedding.hpp for programs of shares: the same start, steps and end, so the
// same point of the optimal face, at a cost of O(classes G^2) an iteration. Beside its own shares every class
// touches only the G rows of the types and the level, so a step eliminates each class by itself and leaves
// G + 1 equations (Schur complement of a bordered block-diagonal system).
// As SolveEmbedding; kError beyond ShareSystem::kMostTypes. An answer is not checked here. Pure function of
// the program but for the clock.
[[nodiscard]] LpStatus SolveShareEmbedding(const ShareProgram& program, ShareAnswer& answer,
                                           double time_limit_s = kLpInfinity);

}  // namespace berth::gavel
