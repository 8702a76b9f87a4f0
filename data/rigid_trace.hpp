// What readers of logs without model names share: every job is rigid, of one job type, at 1 step/s on every
// type, so that its steps are the seconds it ran.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "data/workloads.hpp"

namespace berth {

struct RigidJob {
  std::int64_t id = 0;
  double submit = 0.0;                                          // s
  double seconds = 0.0;                                         // it ran, > 0
  int gang = 1;                                                 // devices
  double requested = std::numeric_limits<double>::quiet_NaN();  // s
  double deadline = kNever;                                     // s, absolute
  int tenant = 0;
  int line = 0;  // of the file
};

// Sorts by submit time, keeping the order of equal ones, and validates; errors begin with "path:line".
// Columns that no job states stay empty. `cluster` has at least one type.
Scenario RigidScenario(const std::string& path, const ScenarioSettings& settings, const ClusterSpec& cluster,
                       std::vector<RigidJob> jobs, std::vector<Tenant> tenants = {});

}  // namespace berth
