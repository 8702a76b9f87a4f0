// What a level costs a job at prices of the GPU types: the least cost of shares that are worth the level is a
// small convex program for each job alone, on the lower hull of idling (0, 0) and its types (worth, gang
// price).
#pragma once

#include <span>
#include <vector>

#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

// Of one job the cheapest shares at some prices: of `low` (-1: none) and `high`; what they cost, what a unit
// more costs, and what a unit of its time is worth.
struct ShareMix {
  int low = -1, high = -1;
  double of_low = 0.0, of_high = 0.0;
  double cost = 0.0, slope = 0.0, of_time = 0.0;
};
// All types on which shares may be: `fixed` where that leaves no choice, and `mix` is then all.
struct ShareChoice {
  bool fixed = false;
  ShareMix mix;
  std::vector<int> types;
};

// Refers to the problem and worth [m, G], which must outlive it. O(G) a question, O(G^2) at worst.
class PricedShares {
 public:
  PricedShares(const Problem& problem, const std::vector<double>& worth);

  bool allowed(int job, int type) const { return allowed_[problem_.at(job, type)] != 0; }
  void Allow(int job, int type, bool may) { allowed_[problem_.at(job, type)] = may ? 1 : 0; }

  double worth(int job, int type) const { return worth_[problem_.at(job, type)]; }
  double Fastest(int job) const;
  // Whether the level takes all of its time on its fastest types.
  bool AtTop(int job, double level) const;
  // The only type so fast, or -1.
  int OnlyFastest(int job) const;
  // The best worth on types of no more than this price, 0 = none.
  double Free(int job, std::span<const double> price, double least) const;
  // REQUIRES: a type that is allowed; level > 0. By rounding beyond the fastest, it is that one's.
  ShareMix Cheapest(int job, double level, std::span<const double> price) const;
  // The types on which shares cost no more than the cheapest by `apart` of the highest price.
  ShareChoice Choose(int job, double level, std::span<const double> price, double apart) const;

 private:
  const Problem& problem_;
  const std::vector<double>& worth_;
  std::vector<char> allowed_;  // [m, G]
};

double HighestPrice(std::span<const double> price);

}  // namespace berth::gavel
