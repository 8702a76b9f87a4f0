// The levels that a cluster is to keep: "mean_jct_h<=12;deadline_misses<=1%".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/metric_columns.hpp"

namespace berth {

struct Level {
  MetricColumn metric;
  bool at_most = true;  // else at least
  double bound = 0.0;   // in the unit of the figure's key
  std::string text;     // "mean_jct_h<=12"
};

// Levels between ';'. A figure is named as NamedMetric takes it and its bound is in that name's unit; a share
// is said in percent, with its sign. Throws Error with the nearest right name.
std::vector<Level> ParseLevels(const std::string& text);

// What more GPUs do to a level as a rule. kEither: to costs and counts of faults and orders either, by which
// GPUs they are.
enum class MoreGpus : std::uint8_t { kHelp, kHarm, kEither };
MoreGpus EffectOfMoreGpus(const Level& level);

}  // namespace berth
