// A scenario as the tables that it could have been made from.
#pragma once

#include <string>

#include "env/sim/scenario.hpp"

namespace berth {

// In quotes, as TOML takes any text.
std::string TomlText(const std::string& text);

// The texts of jobs.csv, speeds.csv and cluster.toml, from which ReadJobTable makes the same scenario, to the
// hash.
struct ScenarioTables {
  std::string jobs, speeds, cluster;
};

// Error for what tables do not hold: rates that only schedulers believe, a pair of jobs with different speeds
// each way.
ScenarioTables TablesOf(const Scenario& scenario);

}  // namespace berth
