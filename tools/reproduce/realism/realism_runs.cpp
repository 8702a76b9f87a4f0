#include "tools/reproduce/realism/realism_runs.hpp"

#include "env/base/check.hpp"
#include "tools/table.hpp"

namespace berth {

RealismRuns::RealismRuns(int seeds, const std::string& scheduler, Window window, const Workload& workload) {
  for (int seed = 0; seed < seeds; ++seed)
    runs_.push_back(RealismRun(workload(static_cast<std::uint64_t>(seed)), scheduler, window));
}

double RealismRuns::Mean(double Metrics::*metric, double unit) const {
  double mean = 0.0;
  for (const RunResult& run : runs_) mean += run.metrics.*metric / unit / static_cast<double>(runs_.size());
  return mean;
}

Interval RealismRuns::Estimate(double Metrics::*metric, double unit) const {
  std::vector<double> values;
  for (const RunResult& run : runs_) values.push_back(run.metrics.*metric / unit);
  return BootstrapMean(values, 1);
}

std::string Brackets(const Interval& interval, int decimals) {
  return Join("[", Fixed(interval.low, decimals), ", ", Fixed(interval.high, decimals), "]");
}

}  // namespace berth
