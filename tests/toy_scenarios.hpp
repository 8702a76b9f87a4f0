// Random and extreme scenarios that every scheduler must get through.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "env/sim/scenario.hpp"
#include "tools/bench/golden_suite.hpp"

namespace berth::test {

using bench::RandomScenario;

// Named extremes: no job, one job, all at once, one GPU type, one GPU.
std::vector<std::pair<std::string, Scenario>> ExtremeScenarios(Clock clock);

// Every clock, with rounds of 60 s.
std::vector<Clock> AllClocks();

}  // namespace berth::test
