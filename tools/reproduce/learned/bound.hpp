// The least mean JCT that any scheduler can have in steady state (bound.cpp says why).
#pragma once

#include "env/sim/scenario.hpp"

namespace berth {

// Seconds, over the jobs that the workload draws, at `rate_per_s` arrivals; NaN where they are more work than
// there are GPUs for.
double LeastMeanJct(const Scenario& scenario, double rate_per_s);

}  // namespace berth
