// What tools/report/gantt.js draws of one run, without Python: the same as gantt.py's page_data makes of an
// evaluation file (tests/explain_test.cpp compares the two).
#pragma once

#include <string>

#include "tools/json.hpp"
#include "tools/report/run_record.hpp"

namespace berth {

inline constexpr std::size_t kMostBars = 200'000;  // on one page: about 6 MB

// The constant GANTT of the page. `name` stands for the scheduler; `around_s` is the moment of which bars are
// kept where there are more than `most`: those nearest to it.
Json GanttData(const Scenario& scenario, const std::string& name, const RunRecord& record, double around_s,
               std::size_t most = kMostBars);

}  // namespace berth
