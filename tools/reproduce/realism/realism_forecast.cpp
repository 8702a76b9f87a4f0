// Forecast arrivals at work: GPUs are kept for short jobs that are expected, by what forecasts them.
#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
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
    Curve curve{way.name};
    for (const double safety : safeties) {
      const std::string inner = "fcfs(overtake=true)";
      const std::string spec =
          way.reserves ? Join("reservation(short=7200,safety=", safety, ",inner=", inner, ")") : inner;
      const RealismRuns runs(options.seeds, spec, {200, 600}, [&](std::uint64_t seed) {
        return RealismScenario("synthetic(rate=2.0,jobs=700,arrivals=diurnal(swing=0.9))",
                               "v100=12,p100=12,k80=12", "event", way.features, seed);
      });
      const Interval slow = runs.Estimate(&Metrics::mean_slowdown);
      curve.Add(safety, slow);
      result.rows.push_back({way.name, way.reserves ? Fixed(safety, 0) : "-", Fixed(slow.mean, 3),
                             Brackets(slow, 3), Fixed(runs.JctHours().mean, 2)});
      if (way.reserves) continue;
      curve.Add(safeties.back(), slow);  // a level line
      break;
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth
