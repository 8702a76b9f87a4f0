// Columns of evaluate's table: figures of a run by name, in the unit that people read.
#pragma once

#include <string>
#include <vector>

#include "tools/results.hpp"

namespace berth {

struct MetricColumn {
  const MetricField* field;
  std::string title;
  double unit = 1.0;  // a cell is the figure over this
  int decimals = 2;
  std::string Cell(const Metrics& metrics) const;
};

// Names between commas, each a short one (cost, energy, deadline_misses, ...) or a key of MetricFields. The
// mean JCT is no column: it stands first anyway. Throws Error with the nearest name.
std::vector<MetricColumn> MetricColumns(const std::string& names);
// What is shown where nothing was asked for: the usual ones, and those of what the scenario has on:
// deadlines, power, features with figures of their own.
std::string UsualMetrics(const Scenario& scenario);
std::string MetricNames();  // the short ones, for --help

}  // namespace berth
