// Nodes: what it costs gangs to be spread, by how the cluster places them and how fast its network is.
#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

struct TopologyWay {
  const char* name;
  const char* scheduler;
  const char* placement;
};
constexpr TopologyWay kTopologyWays[] = {
    {"fcfs, spread", "fcfs", "spread"},
    {"fcfs, lowest", "fcfs", "lowest"},
    {"fcfs, best_fit", "fcfs", "best_fit"},
    {"fcfs, consolidate", "fcfs", "consolidate"},
    {"delay_scheduling", "delay_scheduling", "consolidate"},
    {"defragment(inner=fcfs)", "defragment(inner=fcfs)", "consolidate"},
};

RealismRuns RunsOf(const RealismOptions& options, const TopologyWay& way, const std::string& links) {
  return RealismRuns(options.seeds, way.scheduler, {300, 1200}, [&](std::uint64_t seed) {
    return WithCosts(RealismScenario("synthetic(rate=0.9,jobs=1500,gangs=multi)", "v100=48/4", "event",
                                     Join("topology(placement=", way.placement, ",", links, ")"), seed),
                     {.checkpoint_s = 30.0, .restore_s = 30.0, .migration_s = 30.0});
  });
}

}  // namespace

RealismResult RealismTopology(const RealismOptions& options) {
  RealismResult result;
  result.title =
      "Nodes of 4 GPUs: mean JCT by the network between them (ring all-reduce of 0.05 GB a step), by "
      "placement";
  result.shows =
      "The slower the network, the more it matters to have gangs together: by where the cluster places them, "
      "by waiting a little for room (delay_scheduling), or by moving them later (defragment). The last rows "
      "use the measured rates of spread gangs.";
  result.columns = {"placement", "network GB/s",         "mean JCT h",
                    "95%",       "gangs started spread", "fragmentation"};
  result.x_label = "GB/s between nodes (12 inside)";
  result.y_label = "mean JCT, h";
  result.log_x = true;
  const auto add_row = [&](const TopologyWay& way, const std::string& network, const RealismRuns& runs) {
    const Interval jct_h = runs.JctHours();
    result.rows.push_back({way.name, network, Fixed(jct_h.mean, 2), Brackets(jct_h, 2),
                           Fixed(100.0 * runs.Mean("spread_starts"), 1) + "%",
                           Fixed(runs.Mean("fragmentation"), 3)});
    return jct_h;
  };
  for (const TopologyWay& way : kTopologyWays) {
    Curve curve{way.name};
    for (const double network : {1.25, 2.5, 5.0, 12.0}) {  // 10, 20, 40 and nearly 100 Gbit/s
      const RealismRuns runs =
          RunsOf(options, way,
                 Join("slowdown=model,gradient_gb=0.05,network_gb_s=", network, ",rack_gb_s=", network));
      curve.Add(network, add_row(way, Fixed(network, 2), runs));
    }
    result.curves.push_back(std::move(curve));
  }
  for (const TopologyWay& way : kTopologyWays)
    add_row(way, "measured", RunsOf(options, way, "slowdown=auto"));
  return result;
}

}  // namespace berth
