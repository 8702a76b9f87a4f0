// Monitoring: the power of the cluster over time, and a controller that holds it at a target by what it
// measures.
#include "env/base/check.hpp"
#include "env/features/monitoring/monitoring.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

double Mean(const std::vector<double>& series) {
  double sum = 0.0;
  for (double x : series) sum += x;
  return series.empty() ? 0.0 : sum / static_cast<double>(series.size());
}

}  // namespace

RealismResult RealismMonitoring(const RealismOptions& options) {
  RealismResult result;
  result.title =
      "Measured power of 36 GPUs over time (1.2 kW idle, 8.4 kW at peak), with admission by feedback";
  result.shows =
      "power_feedback with a target of half of the span (4.8 kW) admits a job when the power that it "
      "measured leaves "
      "room; what waits for it stands in the queue.";
  result.columns = {"scheduler", "mean JCT h", "mean kW", "highest kW", "mean waiting", "mean fairness"};
  result.x_label = "time, h";
  result.y_label = "power, kW";
  result.steps = true;
  for (const char* scheduler :
       {"fcfs", "srpt", "power_feedback(target=0.5)", "power_feedback(target=0.5,inner=srpt)"}) {
    const RealismRuns runs(options.seeds, scheduler, {0, 300}, [](std::uint64_t seed) {
      return RealismScenario("synthetic(rate=1.8,jobs=300)", "v100=12/4,p100=12/4,k80=12/4", "event",
                             "power;monitoring(interval_s=1800)", seed);
    });
    double watts = 0.0, most = 0.0, waiting = 0.0, fairness = 0.0;
    for (const RunResult& run : runs.runs()) {
      const MonitoringState& m = *run.series.Find<MonitoringState>();
      watts += Mean(m.watts) / options.seeds;
      for (double w : m.watts) most = std::max(most, w);
      waiting += Mean(m.waiting) / options.seeds;
      fairness += Mean(m.fairness) / options.seeds;
    }
    const MonitoringState& first = *runs.runs().front().series.Find<MonitoringState>();
    Curve curve{scheduler};
    for (std::size_t i = 0; i < first.time.size() && first.time[i] <= 15.0 * 86400.0; ++i)
      curve.Add(first.time[i] / 3600.0, first.watts[i] / 1000.0);
    result.curves.push_back(std::move(curve));
    result.rows.push_back({scheduler, Fixed(runs.Mean(&Metrics::mean_jct_s, 3600.0), 2),
                           Fixed(watts / 1000.0, 2), Fixed(most / 1000.0, 2), Fixed(waiting, 1),
                           Fixed(fairness, 3)});
  }
  return result;
}

}  // namespace berth
