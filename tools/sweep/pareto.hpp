// Which rows of a sweep no other beats in two figures at once.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/sweep/sweep_table.hpp"

namespace berth {

// Of points in which less is better twice: those for which no other is at most as large in both and smaller
// in one, by the first figure. Points that are equal stay together. NaN is never on the front.
std::vector<std::size_t> NonDominated(std::span<const std::pair<double, double>> points);

struct ParetoFront {
  MetricColumn first, second;
  std::vector<std::size_t> rows;    // of SweepTable::rows
  int lost_jobs = 0, unstable = 0;  // rows that were left out: their means are of no use
};
// "A,B": names as NamedMetric takes them. Throws Error.
std::pair<MetricColumn, MetricColumn> ParsePareto(const std::string& text);
ParetoFront FrontOf(const SweepTable& table, const std::string& names);

}  // namespace berth
