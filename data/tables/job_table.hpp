// A table of jobs of any log as a scenario: columns by name or guessed, work as steps or as a measured
// duration.
#pragma once

#include <string>
#include <vector>

#include "data/workloads.hpp"

namespace berth {

struct JobTableRequest {
  std::string columns;            // of JobColumns
  std::string speeds;             // file of Speeds; "" = every type runs a job alike, at 1 step/s
  int skip_bad = 0;               // rows that may be refused
  bool estimate_missing = false;  // speeds that the file lacks (Speeds::Table)
};

struct JobTableScenario {
  Scenario scenario;
  std::vector<std::string> notes;  // what was understood, a line each
  std::vector<std::string>
      refused;  // rows that are left out, "path:line: column ...: expected ..., found ..."
};

// Times are counted from the settings' origin, or the first arrival. Throws Error for the first row that
// cannot be read, where these are more than may be left out, and for what the whole table lacks. REQUIRES: a
// cluster with types.
JobTableScenario ReadJobTable(const std::string& path, const JobTableRequest& request,
                              const ScenarioSettings& settings);

}  // namespace berth
