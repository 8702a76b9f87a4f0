// The least makespan that any scheduler, clairvoyant or not, can have for jobs that are all there at the
// start.
#pragma once

#include "env/sim/scenario.hpp"

namespace berth {

// Seconds: the optimum T of a linear program, which leaves out rounds, whole GPUs and stops. y_ig is the time
// that job i runs on GPU type g: sum_g rate_ig y_ig = its steps, sum_g y_ig <= T, and for each type
// sum_i gang_i y_ig <= its GPUs T. Any schedule's y is feasible with T its makespan (Narayanan et al., OSDI
// 2020, section 4.2, has the same program with shares y / T). NaN where it cannot be solved. REQUIRES: all
// arrive at 0, whole GPUs.
double LeastMakespan(const Scenario& scenario);

}  // namespace berth
