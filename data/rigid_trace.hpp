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
  double submit = 0.0;                                          // s, >= 0
  double seconds = 0.0;                                         // it ran, > 0
  int gang = 1;                                                 // devices
  double requested = std::numeric_limits<double>::quiet_NaN();  // s
  double deadline = kNever;                                     // s, as submit
  int gpu_milli = 1000;                                         // thousandths of each device
  std::uint64_t allowed = 0;                                    // bits of types; 0 = all
  double cores = 0.0, memory_gb = 0.0;                          // of a node, for each device
  int tenant = 0;
  int kind = 0;  // index of its job type, where there are several
  int line = 0;  // of the file
};

// Of a log that says nothing of its cluster: Error unless one is given.
void NeedCluster(const std::string& path, const ScenarioSettings& settings);

// The index of the tenant `name`, who is added at the end when new.
int TenantNamed(const std::string& name, std::vector<Tenant>& tenants);

// Sorts by submit time, keeping the order of equal ones, and validates; errors begin with "path:line".
// Times are then counted from the settings' origin, or the first submit time. Columns that no job states stay
// empty. `cluster` has at least one type. `note`, such as what the reader
// left out, stands behind the path in the provenance. `kinds` are the names of job types; none = one, "job".
Scenario RigidScenario(const std::string& path, const ScenarioSettings& settings, const ClusterSpec& cluster,
                       std::vector<RigidJob> jobs, std::vector<Tenant> tenants = {},
                       const std::string& note = "", std::vector<std::string> kinds = {});

}  // namespace berth
