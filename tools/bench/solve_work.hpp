// Gavel's policies alone, without the rounds that carry their allocations out.
#pragma once

#include <vector>

#include "baselines/gavel/objective.hpp"
#include "env/sim/scenario.hpp"

namespace berth::bench {

// N jobs at time 0 on N/4 GPUs of each of 3 types, single GPUs, as the reference's own measurement draws them
// (Narayanan et al., OSDI 2020, Figure 12; gavel/sim/policy_solve_times.csv).
Scenario SolveInstance(int jobs);

// CPU-seconds of one allocation for the jobs at time 0, from the view to the answer, checks included; each
// repeat by a policy that has seen nothing before. Throws Error where the policy finds no answer.
std::vector<double> SolveTimes(const gavel::ObjectiveInfo& objective, bool packed, const Scenario& scenario,
                               int repeats);
std::vector<double> SolveMaxMin(const Scenario& scenario, int repeats);

}  // namespace berth::bench
