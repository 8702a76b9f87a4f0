// Examples that prove a bundle that no learner of agents/ made: what its network answers in the first choices
// of an episode.
#pragma once

#include "env/sim/scenario.hpp"
#include "policies/bundle.hpp"

namespace berth {

// Plays bundle.mdp on the scenario, the best legal action each time, and records every eighth point, at most
// sixteen of them.
void AddExamples(const Scenario& scenario, PolicyBundle& bundle);

}  // namespace berth
