// Water filling: lexicographic max-min fairness, also over entities with policies of their own (OSDI 2020
// §4.3 and appendix; policies/max_min_fairness_water_filling.py of its code).
//
// All unsaturated jobs rise together, by weight, until some can rise no further without lowering another;
// those are saturated at their level and the rest go on. Which jobs are bottlenecks the reference asks a
// mixed-integer program with a tolerance of 1e-4; here it is decided exactly. A job whose row of the level LP
// has a positive price is one (complementary slackness: the row is tight in every optimum). Of the others,
// LPs maximise the sum of what they could rise: who rises is none; when that maximum is 0 the rest are (the
// set of rises is convex, so jobs that can rise alone can rise together). Tests compare with the
// mixed-integer one. Jobs that cannot be told apart are one class throughout.
#pragma once

#include <vector>

#include "baselines/gavel/job_classes.hpp"
#include "baselines/gavel/problem.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

struct WaterLevels {
  Allocation x;                  // [m, G]
  std::vector<double> net;       // [m] T_i . x_i / prop_i, the normalised effective throughput
  std::vector<double> promised;  // [m] what every allocation with these levels gives; net is no less
  std::vector<bool> saturated;   // [m] all of them, but where the reference stops early
};

struct WaterOptions {
  bool by_tenant =
      false;  // over the problem's tenants and within each as it says, else over the jobs by weight
  // As the reference: once a job does not rise, the level may not rise by more than max_ij gang_i T_ij /
  // prop_i at once; where it would, nothing is saturated and the filling stops short (only with tenants, or
  // weights below 1). A bug there, needed for its recorded answers.
  bool reference_cap = false;
};

class WaterFilling {
 public:
  explicit WaterFilling(LpMethod method, double time_limit_s = kLpInfinity) : lp_(method, time_limit_s) {}

  // True with the levels reached so far where a later LP fails, as the reference; false where the first does.
  [[nodiscard]] bool Solve(const Problem& problem, const WaterOptions& options, WaterLevels& levels);
  const char* failure() const { return lp_.failure(); }

 private:
  struct State;
  static JobClasses ClassesOf(const Problem& problem, const WaterOptions& options);
  bool Raise(State& state);
  bool FindBottlenecks(State& state);
  void StateLevel(const State& state, double slack);
  std::vector<int> StateRises(const State& state, const std::vector<int>& open, double slack);
  CheckedLp lp_;
};

}  // namespace berth::gavel
