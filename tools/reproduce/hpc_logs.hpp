// Whole public GPU logs (Philly, ITP) under FCFS, EASY and SRPT: summary statistics beside what their
// publishers state, and results with seconds per run.
#pragma once

#include <string>
#include <vector>

#include "tools/json.hpp"

namespace berth {

struct HpcLogs {
  std::string text;                  // tables
  Json json = Json::array();         // one object a log
  std::vector<std::string> skipped;  // logs that are not there
  int differ = 0;                    // stated figures that the reader does not give
};
HpcLogs RunHpcLogs(const std::string& traces);

}  // namespace berth
