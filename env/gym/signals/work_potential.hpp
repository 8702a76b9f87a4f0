// What the work left adds to a reward that is paid for GPUs in use: each job's steps left, on the type where
// a step adds least.
//
//   phi(s) = sum over jobs of steps left x min over types of (gang x price + own) / rate
//
// price, of a GPU second: of `cost` its price, of `energy` what it draws busy above idle, of `makespan` its
// share in the least time for all jobs of the episode, and `own` the share of the job's own time, of the
// longest jobs (load_prices.hpp); otherwise 0. So the quiet signal of an interval is what it cost above the
// least: of makespan -dt + the worth of what was done, 0 where every GPU works on who belongs there and no
// long job waits. What a job adds as it arrives depends on nobody's choice, so to leave arrivals out is no
// bias: D = 0.
#pragma once

#include <span>

#include "env/sim/scenario.hpp"

namespace berth {

// Of a step of the whole gang, in the unit of `price` [G] x s.
double LeastPrice(const Scenario& scenario, int job, std::span<const double> price, double own = 0.0);

}  // namespace berth
