// Nodes: what it costs gangs to be spread, by how the cluster places them and how fast its network is.
#include "env/check.hpp"
#include "tools/reproduce/realism/realism.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

struct Way {
  const char* name;
  const char* scheduler;
  const char* placement;
};
constexpr Way kWays[] = {
    {"fcfs, spread", "fcfs", "spread"},
    {"fcfs, lowest", "fcfs", "lowest"},
    {"fcfs, best_fit", "fcfs", "best_fit"},
    {"fcfs, consolidate", "fcfs", "consolidate"},
    {"delay_scheduling", "delay_scheduling", "consolidate"},
    {"defragment(inner=fcfs)", "defragment(inner=fcfs)", "consolidate"},
};

struct Measured {
  Interval jct_h;
  double spread = 0.0, fragmentation = 0.0;
};

Measured MeasureWay(const RealismOptions& options, const Way& way, const std::string& links) {
  Measured measured;
  std::vector<double> jct;
  for (int seed = 0; seed < options.seeds; ++seed) {
    Scenario scenario = RealismScenario("synthetic(rate=0.9,jobs=1500,gangs=multi)", "v100=48/4", "event",
                                        Join("topology(placement=", way.placement, ",", links, ")"),
                                        static_cast<std::uint64_t>(seed));
    scenario = WithCosts(scenario, {.checkpoint_s = 30.0, .restore_s = 30.0, .migration_s = 30.0});
    const RunResult run = RealismRun(scenario, way.scheduler, {300, 1200});
    jct.push_back(run.metrics.mean_jct_s / 3600.0);
    measured.spread += run.metrics.spread_starts / options.seeds;
    measured.fragmentation += run.metrics.fragmentation / options.seeds;
  }
  measured.jct_h = BootstrapMean(jct, 1);
  return measured;
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
  const auto add_row = [&](const Way& way, const std::string& network, const Measured& m) {
    result.rows.push_back({way.name, network, Fixed(m.jct_h.mean, 2),
                           Join("[", Fixed(m.jct_h.low, 2), ", ", Fixed(m.jct_h.high, 2), "]"),
                           Fixed(100.0 * m.spread, 1) + "%", Fixed(m.fragmentation, 3)});
  };
  for (const Way& way : kWays) {
    Curve curve{way.name, {}, {}, {}, {}};
    for (const double network : {1.25, 2.5, 5.0, 12.0}) {  // 10, 20, 40 and nearly 100 Gbit/s
      const Measured m =
          MeasureWay(options, way,
                     Join("slowdown=model,gradient_gb=0.05,network_gb_s=", network, ",rack_gb_s=", network));
      curve.Add(network, m.jct_h);
      add_row(way, Fixed(network, 2), m);
    }
    result.curves.push_back(std::move(curve));
  }
  for (const Way& way : kWays) add_row(way, "measured", MeasureWay(options, way, "slowdown=auto"));
  return result;
}

}  // namespace berth
