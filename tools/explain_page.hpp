// The page of `berth explain`: who held which GPU around the moment, the commands that were considered then,
// with bars of their scores, and what the first choice hangs on. One file that needs no network, and no
// Python to be made: the chart and the style are those of the report (tools/report/gantt.js, page.css).
#pragma once

#include <string>

#include "tools/explanation.hpp"

namespace berth {

struct ExplainPage : Explanation {
  std::string policy, scenario;  // a name, and in words
  std::string before;            // --until-then; "" = the policy
  std::string command;           // as typed
  std::size_t top = 15;          // commands that are shown, and beyond them those that were chosen
  Json gantt;                    // GanttData of the whole run
};

// Throws Error where what it is made of is not beside the sources.
std::string ExplainHtml(const ExplainPage& page);

}  // namespace berth
