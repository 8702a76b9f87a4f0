// The costs of Sia's integer program from what jobs would achieve (Jayaram Subramanya et al., SOSP 2023),
// in single precision and rounded as the published code does (siasosp23/artifacts,
// sia-simulator/sia.py: optimize_mip and __solve_mip_rescaled). A row is one job's.
#pragma once

#include <span>
#include <vector>

#include "baselines/adaptive/sia_program.hpp"

namespace berth::sia {

// Entries of configurations that a job cannot have, before its row is scaled.
inline constexpr float kNoGoodput = 1e-4f;

// Goodputs relative to the worst valid configuration, whose entry becomes 1. `goodput` [configurations]:
// progress per second, of any unit; 0 or less = not valid. The others become kNoGoodput and are scaled like
// the valid ones, but never fall below it. A type without any valid configuration gets 1 at one GPU: so
// starts a job of which nothing is known. Throws Error where the two differ in length, or a goodput is not
// finite.
std::vector<float> NormalisedGoodputs(std::span<const float> goodput,
                                      std::span<const Configuration> configurations);

// What a job keeps of another configuration's goodput when it must restart for it: its age less what its
// restarts have cost, over its age and one restart more. `age` s since submission, `penalty` s >
// 0 per restart. 1 while the job is younger than one restart takes.
double RestartFactor(double age, int restarts, double penalty);

struct CostRule {
  double power = -0.5;   // p: the lower, the fairer; below 0, so that better configurations cost less
  double most = 3000.0;  // costs are cut there
};

// [configurations] factor^p of `normalised`, where all but the configuration held (`previous`, -1 = none) are
// scaled by the restart factor first; rounded to two decimals, so that many configurations tie. Throws Error
// where p is not below 0 or `previous` no configuration.
std::vector<double> Costs(std::span<const float> normalised, int previous, double restart_factor,
                          const CostRule& rule = {});

}  // namespace berth::sia
