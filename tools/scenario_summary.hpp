// What a scenario is, for people and as JSON: shared by generate, convert and inspect.
#pragma once

#include <string>

#include "env/sim/scenario.hpp"
#include "tools/json.hpp"

namespace berth {

Json ScenarioJson(const Scenario& scenario);
std::string ScenarioReport(const Scenario& scenario);  // a few lines

// How generate and convert end: the scenario to --out, what it is to --json and standard output.
void CheckScenarioWritable(const Options& options);  // Error before the work, not after it
void WriteAndReport(const Options& options, const Scenario& scenario);

}  // namespace berth
