// The page of `berth explain`: who held which GPU around the moment, the commands that were considered then,
// with bars of their scores, and what the first choice hangs on. One file that needs no network, and no
// Python to be made: the chart and the style are those of the report (tools/report/gantt.js, page.css).
#pragma once

#include <string>
#include <vector>

#include "tools/json.hpp"

namespace berth {

struct ExplainedCommand {
  std::string text;
  double score = 0.0;
  int chosen = 0;  // 1 = first; 0 = not
};
struct ExplainedBlock {
  std::string block;
  double change = 0.0;  // of the first choice's score without it
  std::string first;    // what would be chosen first
};

struct ExplainPage {
  std::string policy, scenario;  // a name, and in words
  std::string command;           // as typed
  double time_s = 0.0;           // the moment
  int waiting = 0, running = 0;
  std::string decision;                    // in words
  std::vector<ExplainedCommand> commands;  // best first
  std::size_t top = 15;                    // that are shown, and beyond them those that were chosen
  std::vector<ExplainedBlock> blocks;
  Json gantt;  // GanttData of the whole run
};

// Throws Error where what it is made of is not beside the sources.
std::string ExplainHtml(const ExplainPage& page);

}  // namespace berth
