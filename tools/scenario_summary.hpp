// What a scenario is, for people and as JSON: shared by generate, convert and inspect.
#pragma once

#include <string>

#include "env/scenario.hpp"
#include "tools/json.hpp"

namespace berth {

Json ScenarioJson(const Scenario& scenario);
std::string ScenarioReport(const Scenario& scenario);  // a few lines

}  // namespace berth
