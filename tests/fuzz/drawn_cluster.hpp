// Small clusters with features and their jobs, out of the bytes of an input.
#pragma once

#include "env/sim/scenario.hpp"
#include "tests/fuzz/input.hpp"

namespace berth::fuzz {

// Throws Error where features that were drawn do not go together.
Scenario DrawnCluster(Input& in);

// The same with up to five outages of GPUs and nodes, at times of all of them, unless its GPUs fail already.
Scenario WithOutages(const Scenario& scenario, Input& in);

}  // namespace berth::fuzz
