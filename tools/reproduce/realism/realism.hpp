// `berth reproduce realism`: for each feature of a cluster (env/features/) a worked example that shows what
// it does, measured, as a table and a picture. One file and one line each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/statistics.hpp"

// X(name, function)
#define BERTH_REALISM(X)                    \
  X("topology", RealismTopology)            \
  X("failures", RealismFailures)            \
  X("drains", RealismDrains)                \
  X("spot", RealismSpot)                    \
  X("services", RealismServices)            \
  X("stages", RealismStages)                \
  X("checkpoints", RealismCheckpoints)      \
  X("elasticity", RealismElasticity)        \
  X("large_scale", RealismLargeScale)       \
  X("model_parallel", RealismModelParallel) \
  X("latency", RealismLatency)              \
  X("cadence", RealismCadence)              \
  X("power", RealismPower)                  \
  X("clocks", RealismClocks)                \
  X("prices", RealismPrices)                \
  X("thermal", RealismThermal)              \
  X("monitoring", RealismMonitoring)        \
  X("partitions", RealismPartitions)        \
  X("sharing", RealismSharing)              \
  X("switching", RealismSwitching)          \
  X("classes", RealismClasses)              \
  X("bandwidth", RealismBandwidth)          \
  X("forecast", RealismForecast)            \
  X("estimation", RealismEstimation)        \
  X("estimated_jct", RealismEstimatedJct)

namespace berth {

struct RealismOptions {
  std::string traces;  // folder of real workloads; "" = none, and an example that needs one says so
  int seeds = 3;       // workloads, at least 2
};

struct Curve {
  std::string name;
  std::vector<double> x = {}, y = {};
  std::vector<double> low = {}, high = {};  // 95% interval at each point, or empty

  void Add(double at, double value) { x.push_back(at), y.push_back(value); }
  void Add(double at, const Interval& value) {
    Add(at, value.mean);
    low.push_back(value.low), high.push_back(value.high);
  }
};
struct RealismResult {
  std::string title;  // of table and picture
  std::string shows;  // what to see in it, in a sentence that no figure of this run can make untrue
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string x_label, y_label;
  std::vector<Curve> curves;
  bool steps = false, log_x = false, log_y = false;
  std::string skipped;  // why nothing was measured, or ""
};

#define BERTH_DECLARE_REALISM(name, function) RealismResult function(const RealismOptions& options);
BERTH_REALISM(BERTH_DECLARE_REALISM)
#undef BERTH_DECLARE_REALISM

// The shipped generator's workload `seed` (evaluation stream) on `cluster` with features, as the command line
// would make it; or with `change` made to its data first, which the features then see.
Scenario RealismScenario(const std::string& workload, const std::string& cluster, const std::string& clock,
                         const std::string& features, std::uint64_t seed,
                         const std::function<void(ScenarioData&)>& change = {});
// One run of a scheduler by its spec over the window.
RunResult RealismRun(const Scenario& scenario, const std::string& scheduler, Window window = {});

}  // namespace berth
