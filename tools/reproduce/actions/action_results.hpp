// What the evaluations of `berth reproduce actions` measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "env/sim/statistics.hpp"
#include "tools/reproduce/actions/action_rows.hpp"

namespace berth {

class ActionResults {
 public:
  // A file of `berth evaluate --out`. Throws Error.
  explicit ActionResults(const std::string& file);

  const std::vector<std::string>& schedulers() const { return schedulers_; }
  bool keeps_up(const std::string& scheduler) const;
  bool keep_up(const std::vector<std::string>& schedulers) const;  // all of them
  // [workloads] in the metric's unit.
  std::vector<double> Values(const std::string& scheduler, const ActionMetric& metric) const;
  double MeanOf(const std::string& scheduler, const ActionMetric& metric) const;
  // Of the mean of several schedulers (a policy's seeds) over that of others or of one, paired by workload.
  // The interval draws the former and the workloads (learned/comparison.hpp), and takes the latter as they
  // are. NaN where a workload has no value, or there is but one.
  Interval Ratio(const std::vector<std::string>& schedulers, const std::vector<std::string>& to,
                 const ActionMetric& metric) const;
  Interval Ratio(const std::vector<std::string>& schedulers, const std::string& to,
                 const ActionMetric& metric) const {
    return Ratio(schedulers, std::vector<std::string>{to}, metric);
  }
  // "0.934 [0.842, 1.033]†": the mark where the cluster does not keep up under one of them.
  std::string RatioCell(const std::vector<std::string>& schedulers, const std::vector<std::string>& to,
                        const ActionMetric& metric) const;
  // Of `among` the one of the least mean; "" where there is none.
  std::string Best(const std::vector<std::string>& among, const ActionMetric& metric) const;

 private:
  std::size_t IndexOf(const std::string& scheduler) const;
  std::vector<double> MeanValues(const std::vector<std::string>& schedulers,
                                 const ActionMetric& metric) const;
  std::vector<std::string> schedulers_;
  std::vector<bool> unstable_;
  std::size_t workloads_ = 0;
  std::string file_;
  mutable std::map<std::string, std::vector<double>> read_;  // [K, S] by key
};

inline constexpr double kMostWorse = 0.02;  // a row lost by more than this is lost

enum class RowVerdict { kWon, kLevel, kLost, kNotCompared };
const char* ToString(RowVerdict verdict);  // "won", "level", "lost", "not compared"
// `ratio` of the policies to the best other. `holds`: what must be no worse is not. `keep_up`: the cluster
// does under the policies and under that other; where it does not their means are of the jobs that are
// measured.
RowVerdict JudgeRow(const Interval& ratio, bool holds, bool keep_up);

}  // namespace berth
