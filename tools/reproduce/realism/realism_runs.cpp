#include "tools/reproduce/realism/realism_runs.hpp"

#include "env/base/check.hpp"
#include "tools/table.hpp"

namespace berth {

RealismRuns::RealismRuns(int seeds, const std::string& scheduler, Window window, const Workload& workload) {
  for (int seed = 0; seed < seeds; ++seed)
    runs_.push_back(RealismRun(workload(static_cast<std::uint64_t>(seed)), scheduler, window));
}

namespace {

template <class Value>
double MeanOf(const std::vector<RunResult>& runs, double unit, const Value& value) {
  double mean = 0.0;
  for (const RunResult& run : runs) mean += value(run.metrics) / unit / static_cast<double>(runs.size());
  return mean;
}

template <class Value>
Interval EstimateOf(const std::vector<RunResult>& runs, double unit, const Value& value) {
  std::vector<double> values;
  for (const RunResult& run : runs) values.push_back(value(run.metrics) / unit);
  return BootstrapMean(values, 1);
}

}  // namespace

double RealismRuns::Mean(double Metrics::*metric, double unit) const {
  return MeanOf(runs_, unit, [&](const Metrics& m) { return m.*metric; });
}

double RealismRuns::Mean(const char* of_feature) const {
  return MeanOf(runs_, 1.0, [&](const Metrics& m) { return m.Of(of_feature); });
}

Interval RealismRuns::Estimate(double Metrics::*metric, double unit) const {
  return EstimateOf(runs_, unit, [&](const Metrics& m) { return m.*metric; });
}

Interval RealismRuns::Estimate(const char* of_feature) const {
  return EstimateOf(runs_, 1.0, [&](const Metrics& m) { return m.Of(of_feature); });
}

std::string Brackets(const Interval& interval, int decimals) {
  return Join("[", Fixed(interval.low, decimals), ", ", Fixed(interval.high, decimals), "]");
}

}  // namespace berth
