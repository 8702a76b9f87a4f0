// The least mean JCT that any scheduler can have in steady state (bound.cpp says why). It is an expectation:
// the jobs that are measured of one workload may be shorter, or meet fewer others, and have a mean below it.
#pragma once

#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

struct LoadGrid;

// Seconds, over the jobs that the workload draws, at `rate_per_s` arrivals; NaN where they are more work than
// there are GPUs for.
double LeastMeanJct(const Scenario& scenario, double rate_per_s);

// Of each workload of the grid at a load. Their mean is to be held against the mean of a scheduler over the
// same workloads, and no workload's own against its own.
std::vector<double> LeastMeanJcts(const LoadGrid& grid, std::size_t load);

}  // namespace berth
