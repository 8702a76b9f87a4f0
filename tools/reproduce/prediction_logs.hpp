// The public logs that predictions are tried on, and their split by time: parameters come from the earlier
// part, errors from the later one.
#pragma once

#include <string>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

struct PredictionLog {
  std::string name;
  std::string what;  // what is known of a job when it arrives
  Scenario jobs;     // steps are seconds
  double split_s;    // the later part begins here
  int first_test;    // job
};

// Those of `folder` (traces/README.md) that are there; what is not is said in `skipped`, a line each.
// `train` is the earlier part's share of the time from the first arrival to the last.
std::vector<PredictionLog> PredictionLogs(const std::string& folder, double train,
                                          std::vector<std::string>& skipped);

}  // namespace berth
