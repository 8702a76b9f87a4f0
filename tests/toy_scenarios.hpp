// Random and extreme scenarios that every scheduler must get through.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "env/scenario.hpp"

namespace berth::test {

// Random jobs of three types and gangs of 1, 2 and 4 over GPU types of 4, 5 and 4; times are multiples of 5 s
// and rates of powers of two, so that completions are exact. Some job types may share one GPU.
Scenario RandomScenario(std::uint64_t seed, int jobs, Clock clock);

// Named extremes: no job, one job, all at once, one GPU type, one GPU.
std::vector<std::pair<std::string, Scenario>> ExtremeScenarios(Clock clock);

// Every clock, with rounds of 60 s.
std::vector<Clock> AllClocks();

}  // namespace berth::test
