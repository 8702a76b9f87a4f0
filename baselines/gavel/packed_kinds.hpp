// Packed max-min: jobs of one kind, gang and row of throughputs that differ only in what they ask for (their
// weights) stand as one, exactly, so that the program does not grow with the jobs.
//
// Job i asks for the speed c d_i. What the jobs of a kind do together is a sum Z_o of time at each rate r_o:
// alone on a type, or on it beside a job of one other kind; pairs of kinds a, b on a type take as much time
// of jobs of a as of b, and any two ways to split that time among the jobs of each can be put together. The
// sums can be split among the n jobs of a kind, each with at most all of its own time, iff
//
//   sum_o Z_o (r_o - t)^+  >=  sum_i (c d_i - t)^+  for every t >= 0,    sum_o Z_o <= n
//
// (Strassen, "The existence of probability measures with given marginals", Ann. Math. Statist. 1965: second
// order stochastic dominance). That is linear in Z and c: for each t and the k hungriest jobs
// sum_o Z_o (r_o - t)^+ >= c (d_1 + ... + d_k) - k t, and between rates in use no t is worse than at one of
// them. A linear program over pairs of kinds is solved with some of these rows and some of the pairs; rows
// that its answer breaks and pairs that its prices favour join, until there are none. kind_shares.hpp splits
// its answer. A job is not its own partner: that is right in all rows but these, and where the split cannot
// keep it, the job becomes a kind of its own.
//
// A round is a linear program of O(kinds) columns and a few rows for each kind, and pricing of all pairs,
// which is O(jobs kinds types): the best partner on a type is the best of its kind, whoever the first is.
#pragma once

#include <span>
#include <vector>

#include "baselines/gavel/combos.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

struct KindsAnswer {
  PackedAllocation x;
  double level = 0.0;  // min_i scale_i speed_i of x
  double bound = 0.0;  // what no allocation exceeds, as these prices prove for every two jobs
  // [m] of speed (sum price_i / scale_i = 1) and of time, [G] of GPUs: no share of time costs less than it is
  // worth, and the bound is sum time_price_i + sum W_j type_price_j.
  std::vector<double> price, time_price, type_price;
};

// The most that min_i scale_i speed_i can be, scale [m] > 0. kOptimal: level and bound are within 1e-7 of
// each other. kError where the digits do not reach so far; the answer is then untouched. REQUIRES: at least
// one job, each of which can run on a type with GPUs. Pure function of the problem but for the clock.
[[nodiscard]] LpStatus MaxMinByKinds(const PackedProblem& problem, std::span<const double> scale,
                                     double time_limit_s, KindsAnswer& answer);

}  // namespace berth::gavel
