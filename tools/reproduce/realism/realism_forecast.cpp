// Forecast arrivals at work: GPUs are kept for short jobs that are expected, by what forecasts them.
#include "env/check.hpp"
#include "tools/reproduce/realism/realism_points.hpp"
#include "tools/table.hpp"

namespace berth {

RealismResult RealismForecast(const RealismOptions& options) {
  RealismResult result;
  result.title =
      "GPUs kept for short jobs that are forecast: mean slow-down by safety (36 GPUs, arrivals by day)";
  result.shows =
      "Short jobs (2 h or less) find a GPU where some are kept, long ones wait for longer, and keeping too "
      "many costs both. What kinds of forecast differ in is little beside what workloads do: a GPU is kept "
      "or not, and the root staffing covers their errors.";
  result.columns = {"scheduler and forecast", "safety", "mean slow-down", "95%", "mean JCT h"};
  result.x_label = "GPUs kept beyond the expected load a, in units of the root of a";
  result.y_label = "mean slow-down";
  const struct {
    const char *name, *features;
    bool reserves;
  } kWays[] = {
      {"fcfs, jobs pass each other", "", false},
      {"reservation, its own forecast", "", true},
      {"reservation, the cluster's mean", "forecast(model=mean)", true},
      {"reservation, the cluster's exponential smoothing", "forecast(model=exponential)", true},
      {"reservation, the cluster's Holt-Winters of a day", "forecast(model=holt_winters(season=24))", true}};
  const std::vector<double> safeties = {0.0, 1.0, 2.0, 4.0};
  for (const auto& way : kWays) {
    Curve curve{way.name, {}, {}, {}, {}};
    for (const double safety : safeties) {
      const std::string inner = "fcfs(overtake=true)";
      const std::string spec =
          way.reserves ? Join("reservation(short=7200,safety=", safety, ",inner=", inner, ")") : inner;
      std::vector<double> slow, jct;
      for (int seed = 0; seed < options.seeds; ++seed) {
        const Scenario scenario = RealismScenario("synthetic(rate=2.0,jobs=700,arrivals=diurnal(swing=0.9))",
                                                  "v100=12,p100=12,k80=12", "event", way.features,
                                                  static_cast<std::uint64_t>(seed));
        const Metrics metrics = RealismRun(scenario, spec, {200, 600}).metrics;
        slow.push_back(metrics.mean_slowdown);
        jct.push_back(metrics.mean_jct_s / 3600.0);
      }
      const Interval mean = BootstrapMean(slow, 1);
      curve.Add(safety, mean);
      result.rows.push_back({way.name, way.reserves ? Fixed(safety, 0) : "-", Fixed(mean.mean, 3),
                             Join("[", Fixed(mean.low, 3), ", ", Fixed(mean.high, 3), "]"),
                             Fixed(BootstrapMean(jct, 1).mean, 2)});
      if (way.reserves) continue;
      curve.Add(safeties.back(), mean);  // a level line
      break;
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth
