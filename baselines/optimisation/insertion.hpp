// Plans changed by one job at a time, the others keeping their order.
#pragma once

#include "baselines/optimisation/instance.hpp"

namespace berth {

// Puts job i, which the plan's order lacks, where the value is then least: on any type, before one of its
// next `places` jobs or behind all; of equal places the first. That value. O(n GPUs) for each place tried.
double Insert(const Instance& instance, Target target, int i, int places, Assignment& plan);

// Takes one job after the other out of the plan and puts it back where it does least harm, as long as that
// makes the value less (the insertion neighbourhood, as in Nawaz, Enscore & Ham, Omega 11, 1983). The value.
double Improve(const Instance& instance, Target target, Assignment& plan);

}  // namespace berth
