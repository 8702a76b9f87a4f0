// Which part of their levels all jobs can have, by ways: shares that are worth its level to a job, all of
// them mixtures of a few. Most jobs have one way that prices near the answer make the cheapest; the linear
// program over the ways of all has a row for each type and each job with a choice, and its prices tell which
// jobs would give up their ways for cheaper ones, which join until none would (Dantzig and Wolfe,
// "Decomposition principle for linear programs", Oper. Res. 1960). An answer is a vertex of the whole
// program, good to the digits of a small one, however rough the prices that it began with.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "baselines/gavel/priced_shares.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

// Refers to all it is made from. Thread rule: one thread at a time.
class LevelWays {
 public:
  LevelWays(const Problem& problem, const std::vector<double>& members, const PricedShares& shares,
            CheckedLp& lp)
      : problem_(problem), members_(members), shares_(shares), lp_(lp) {}

  struct Question {
    std::span<const int> jobs;       // classes that have a level, the others' GPUs being no part of `left`
    std::span<const double> level;   // [m] > 0 of these
    std::span<const char> held;      // [m] whose level is asked for in full
    std::span<const double> left;    // [G] GPUs
    std::span<const double> near;    // [G] prices near the answer, of types with GPUs to spare 0
    std::span<const double> rough;   // [G] the same before small ones became 0
    std::span<const double> inside;  // [m, G] shares near the answer, for those who need no type with a price
    bool all;                        // those are a way of everybody
  };
  // max c: the others have c times their level, c <= `enough` where that is as good. True: `part` is c,
  // `price` [G] is what bounds it, and x of the jobs has their levels, or c times those where c < 1. False
  // where the program has no answer.
  [[nodiscard]] bool Solve(const Question& question, double enough, std::vector<double>& price, double& part,
                           Allocation& x);

 private:
  using Way = std::vector<std::pair<int, double>>;  // type, share
  bool Has(std::size_t its, const Way& way) const;
  void Add(std::size_t its, Way way);
  Way Inside(const Question& question, int job, std::span<const double> price) const;
  Way Cheapest(const Question& question, int job, std::span<const double> price) const;
  void Begin(const Question& question, std::span<const double> near);
  bool Overrun(const Question& question, std::vector<double>& near) const;
  bool Program(const Question& question, double slack, std::vector<double>& price, double& part);
  double Join(const Question& question, std::span<const double> price, std::size_t most);
  double Cost(int job, const Way& way, std::span<const double> price) const;

  const Problem& problem_;
  const std::vector<double>& members_;
  const PricedShares& shares_;
  CheckedLp& lp_;
  std::vector<std::vector<Way>> ways_;  // of each job asked for
  std::vector<int> column_;             // of its first way, -1: it has one
};

}  // namespace berth::gavel
