// Water filling: lexicographic max-min fairness, also over entities with policies of their own (OSDI 2020
// §4.3 and appendix; step by step gavel/SPEC.md §4).
//
// All unsaturated jobs rise together, by weight, until some can rise no further without lowering another; those
// are saturated at their level and the rest go on. Which jobs are bottlenecks the reference asks a
// mixed-integer program with a tolerance of 1e-4; here it is decided exactly. A job whose row of the level LP
// has a positive price is one (complementary slackness: the row is tight in every optimum). Of the others, LPs
// maximise the sum of what they could rise: who rises is none; when that maximum is 0 the rest are (the set of
// rises is convex, so jobs that can rise alone can rise together). Tests compare with the mixed-integer one.
#pragma once

#include <vector>

#include "baselines/checked_lp.hpp"
#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

struct WaterLevels {
  Allocation x;             // [m, G]
  std::vector<double> net;  // [m] T_i . x_i / prop_i, the normalised effective throughput
};

class WaterFilling {
 public:
  explicit WaterFilling(LpMethod method, double time_limit_s = kLpInfinity) : lp_(method, time_limit_s) {}

  // Over the jobs by weight, or with `by_tenant` over the problem's tenants and within each as it says. A job
  // of a FIFO tenant that is not yet served may hold any share. False where an LP fails: x is then that of the
  // last level reached, if any was (the reference keeps it too), else false.
  [[nodiscard]] bool Solve(const Problem& problem, bool by_tenant, WaterLevels& levels);
  const char* failure() const { return lp_.failure(); }

 private:
  struct State;
  bool Raise(State& state);
  bool FindBottlenecks(State& state);
  bool Reach(const State& state, Allocation& x);
  void AddFloors(const State& state);
  CheckedLp lp_;
};

}  // namespace berth::gavel
