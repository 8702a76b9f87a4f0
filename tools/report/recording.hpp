// What evaluate keeps of a scheduler's runs beside their figures when a report or a timeline is asked for.
#pragma once

#include <vector>

#include "tools/report/decision_times.hpp"
#include "tools/report/run_record.hpp"

namespace berth {

struct Recording {
  RunRecord first_run;                      // on the first workload
  std::vector<std::vector<double>> wait_s;  // [workloads][window] first start - arrival; NaN = never started
  std::vector<std::vector<double>> ftf;     // [workloads][window] finish-time fairness; NaN = unfinished
  DecisionTimes decision_times;             // over all workloads
};

}  // namespace berth
