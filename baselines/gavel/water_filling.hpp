// Water filling: lexicographic max-min fairness, also over entities with policies of their own (OSDI 2020
// §4.3 and appendix; policies/max_min_fairness_water_filling.py of its code).
//
// All unsaturated jobs rise together, by weight, until some can rise no further without lowering another;
// those are saturated at their level and the rest go on. Nobody rises beyond what all of its time is worth on
// the types that it can have, which is known beforehand; where types hold somebody up, their prices say so
// (type_bottleneck.hpp), and by complementary slackness those who rise on have no share of a type with a
// price again, in no allocation with these levels. So every bottleneck takes a type away from those who rise:
// there are at most G, however many levels, and who stands is read off the types that are left. The reference
// asks a mixed-integer program with a tolerance of 1e-4 at every level; tests compare with it, and with
// linear programs that know nothing of levels. Jobs that cannot be told apart are one class throughout.
#pragma once

#include <vector>

#include "baselines/gavel/job_classes.hpp"
#include "baselines/gavel/problem.hpp"
#include "baselines/gavel/wide_shares.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

struct WaterLevels {
  Allocation x;                  // [m, G]
  std::vector<double> net;       // [m] T_i . x_i / prop_i, the normalised effective throughput
  std::vector<double> promised;  // [m] what every allocation with these levels gives; net is no less
  std::vector<bool> saturated;   // [m] all of them, but where the reference stops early
  // [G] GPUs' prices that prove the time at which types first hold up somebody, and that time
  // (water_path.hpp); empty where they never do.
  std::vector<double> first_price;
  double first_level = 0.0;
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
  // `warm`: interior points start from those of the last filling with these jobs' keys.
  explicit WaterFilling(LpMethod method, double time_limit_s = kLpInfinity, bool warm = false)
      : time_limit_s_(time_limit_s), warm_(warm), lp_(method, time_limit_s) {}
  void Reset() { last_.clear(); }

  // True with the levels reached so far where a later LP fails, as the reference; false where the first does.
  [[nodiscard]] bool Solve(const Problem& problem, const WaterOptions& options, WaterLevels& levels);
  const char* failure() const { return lp_.failure(); }

 private:
  struct State;
  static JobClasses ClassesOf(const Problem& problem, const WaterOptions& options);
  void StateLevel(const State& state, double slack);
  void FromInside(const State& state, Allocation& x);
  double time_limit_s_;
  bool warm_;
  CheckedLp lp_;
  std::vector<ShareMemory> last_;
};

}  // namespace berth::gavel
