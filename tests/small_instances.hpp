// Instances for the optimising schedulers that are small enough to try out everything, and what trying out
// everything finds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "baselines/optimisation/instance.hpp"
#include "env/sim/scenario.hpp"

namespace berth::test {

struct Drawn {
  bool gangs = false;   // of 1 or 2, otherwise of 1
  bool weights = true;  // of 0.5 to 3, otherwise of 1
};

// All jobs there at 0 on idle types of `counts` GPUs.
Scenario DrawScenario(std::uint64_t seed, int jobs, const std::vector<int>& counts, const Drawn& drawn = {});
// What a scheduler is asked at the scenario's first decision point.
Instance InstanceOf(const Scenario& scenario);
// The same, where each GPU is busy until a random moment within 80 s.
Instance BusyInstanceOf(const Scenario& scenario);

// The least value over all ways to share out jobs of one GPU, without a line of the schedulers' code: every
// job on every GPU, each GPU's jobs in every order.
double Optimum(const Instance& instance, Target target);
// The least value of any list schedule: all orders and types.
double BestList(const Instance& instance, Target target);

// What a scheduler does with it: sum of weight x end, or the latest end; kNever where it rejects a job.
double Achieved(const std::string& spec, const Scenario& scenario, Target target);

inline constexpr Target kTargets[] = {Target::kMakespan, Target::kWeightedCompletion};
std::string Objective(Target target);  // the parameter's value

}  // namespace berth::test
