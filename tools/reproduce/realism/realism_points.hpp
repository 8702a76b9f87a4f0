// One point of a curve: a quantity of several runs, one a workload, and what else the table says of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/reproduce/realism/realism.hpp"

namespace berth {

struct RealismPoint {
  Interval mean_jct_h;                                      // over the workloads
  double interruptions = 0.0, lost_h = 0.0, dropped = 0.0;  // means over them, as Metrics has them
};
// Runs `scheduler` on scenario(seed) for every seed.
RealismPoint MeasurePoint(const RealismOptions& options, const std::string& scheduler, Window window,
                          const std::function<Scenario(std::uint64_t seed)>& scenario);

}  // namespace berth
