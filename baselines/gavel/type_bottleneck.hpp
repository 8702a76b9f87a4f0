// When the GPUs of some types first hold up a filling (water_path.hpp), and which types those are.
//
// Prices p >= 0 of the types prove that levels t cannot be had where sum_i cost_i(p, t_i) > p . workers, with
// cost_i what the cheapest shares cost that give t_i to a job: a small convex program for each job alone. The
// time at which the two sides are equal is therefore a bound from above, and Newton's method on it goes
// down: a linear program asks which part of the levels at the bound all jobs can have; where it is not all of
// it, its prices give a lower bound, and where it is, the time is proven from both sides. After Dinkelbach,
// "On nonlinear fractional programming", Management Science 1967; a few programs for each bottleneck.
//
// Of many jobs an interior point (wide_shares.hpp) tells the prices nearly, and ways of few of them
// (level_ways.hpp) the rest: every time is proven with the prices of a vertex.
#pragma once

#include <span>
#include <vector>

#include "baselines/gavel/level_ways.hpp"
#include "baselines/gavel/priced_shares.hpp"
#include "baselines/gavel/problem.hpp"
#include "baselines/gavel/water_path.hpp"
#include "baselines/gavel/wide_shares.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

// Over classes of jobs. Refers to all it is made from. Thread rule: one thread at a time.
class TypeBottleneck {
 public:
  // worth [m, G]: net throughput of all of a job's time.
  TypeBottleneck(const Problem& problem, const std::vector<double>& members, const std::vector<double>& worth,
                 CheckedLp& lp, double time_limit_s, std::vector<ShareMemory>* last = nullptr);

  enum class Found { kTypes, kEnd, kFailed };
  // kTypes: at time() types hold up somebody who rises; kEnd: none does until the path's end.
  Found Next(const WaterPath& path);
  double time() const { return time_; }
  const std::vector<double>& price() const { return price_; }  // [G] that prove it, after kTypes
  // [m, G] shares with the levels of the last time that is proven.
  const Allocation& x() const { return x_; }

  // After Next: GPUs of types with a price are only for those who stand here. `saturated`: whose level is all
  // that they can have, joined by those who have no other types to rise on. [m] what each can have at most.
  std::vector<double> Settle(std::span<const double> level, std::vector<char>& saturated);

 private:
  double Excess(const WaterPath& path, double time);
  double Bound(const WaterPath& path);
  bool Rough(const WaterPath& path);
  bool Guess(double gap);
  bool Whole();
  bool SolveWhole(double slack);

  const Problem& problem_;
  const std::vector<double>& members_;
  CheckedLp& lp_;
  double time_limit_s_;
  PricedShares shares_;
  LevelWays ways_;
  std::vector<char> held_, fixed_;     // [m] rises no more; and its shares are known
  std::vector<double> left_;           // [G] GPUs without those of fixed jobs
  double time_ = 0.0, part_ = 0.0;     // part_: of the levels, that all can have
  std::vector<double> price_, guess_;  // [G] that prove time_; of the last question
  std::vector<double> rough_;          // [G] the same before small ones became 0
  std::vector<double> level_, rate_;   // [m] at time_, or where a bound is tried
  std::vector<int> asking_;            // those with a level whose shares are not known
  Allocation x_, tried_, inside_;
  std::vector<ShareMemory>* last_;  // of the last filling, by Guess in turn
  std::size_t guesses_ = 0;
};

}  // namespace berth::gavel
