// Columns of evaluate's tables (terminal, page, CSV): figures of a run by name, in the unit that people read.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/results.hpp"

namespace berth {

struct MetricColumn {
  const MetricField* field;
  std::string title;
  double unit = 1.0;  // a cell is the figure over this
  int decimals = 2;
  bool off = false;  // of a feature that no workload has: a cell is "-"
  std::string Cell(const Metrics& metrics) const;
};

// The figure of a name: a short one in the unit that tables show (jct, wait_p99: hours; util: percent), a key
// of MetricFields in its own (mean_jct_s: seconds), and a key that ends in _s with _h for it in hours
// (mean_jct_h). Throws Error with the nearest name.
MetricColumn NamedMetric(const std::string& name);
bool MoreIsBetter(const MetricField& field);  // such as utilization; of most figures less is

// Names between commas, each a short one (cost, energy, deadline_misses, ...) or a key of MetricFields. The
// mean JCT is no column: it stands first anyway. Throws Error with the nearest name, and for one given twice.
std::vector<MetricColumn> MetricColumns(const std::string& names, std::span<const Scenario> workloads);
// What is shown where nothing was asked for: the usual ones, and those of what a workload has: deadlines,
// power, features with figures of their own.
std::string UsualMetrics(std::span<const Scenario> workloads);
std::string MetricsOfFeatures(std::span<const Scenario> workloads);  // of these the latter; "" = none
bool HaveDeadlines(std::span<const Scenario> workloads);             // has a job of any of them one
std::string PageMetrics(std::span<const Scenario> workloads);  // the same on a page, which has room for more
std::string MetricNames();                                     // the short ones, for --help

}  // namespace berth
