// Heat: the hottest GPU over a week under a policy that takes the lowest-numbered GPUs and one that takes the
// coolest, where the nodes numbered first stand at the warm end of the room.
#include <algorithm>

#include "env/base/check.hpp"
#include "env/features/monitoring/monitoring.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {

RealismResult RealismThermal(const RealismOptions& options) {
  RealismResult result;
  result.title = "The hottest of 48 V100 over time, 36 C around the first and 22 C around the last";
  result.shows =
      "fcfs takes the lowest-numbered GPUs, coolest_first leaves the warm end idle while it can. A GPU that "
      "reaches "
      "83 C goes to its lowest clock until it is 5 K cooler; its job and whoever waits for it take longer.";
  result.columns = {"scheduler", "mean JCT h", "hottest C", "samples at 82 C or more"};
  result.x_label = "time, h";
  result.y_label = "temperature of the hottest GPU, C";
  result.steps = true;
  for (const char* scheduler : {"fcfs", "coolest_first"}) {
    const RealismRuns runs(options.seeds, scheduler, {0, 300}, [](std::uint64_t seed) {
      return RealismScenario(
          "synthetic(rate=1.6,jobs=300)", "v100=48/4", "event",
          "monitoring(interval_s=600);power(heat=true,ambient_c=22,ambient_swing_c=3,hot_spot_c=14,rise_c=50,"
          "time_constant_s=120)",
          seed);
    });
    double hottest = 0.0, hot = 0.0;
    for (const RunResult& run : runs.runs()) {
      const std::vector<double>& c = run.series.Find<MonitoringState>()->temperature_c;
      hottest = std::max(hottest, *std::max_element(c.begin(), c.end()));
      const double above =
          static_cast<double>(std::count_if(c.begin(), c.end(), [](double x) { return x >= 82.0; }));
      hot += above / static_cast<double>(c.size()) / options.seeds;
    }
    const MonitoringState& first = *runs.runs().front().series.Find<MonitoringState>();
    Curve curve{scheduler};
    for (std::size_t i = 0; i < first.time.size() && first.time[i] <= 7.0 * 86400.0; ++i)
      curve.Add(first.time[i] / 3600.0, first.temperature_c[i]);
    result.curves.push_back(std::move(curve));
    result.rows.push_back({scheduler, Fixed(runs.Mean(&Metrics::mean_jct_s, 3600.0), 2), Fixed(hottest, 1),
                           Fixed(100.0 * hot, 1) + "%"});
  }
  return result;
}

}  // namespace berth
