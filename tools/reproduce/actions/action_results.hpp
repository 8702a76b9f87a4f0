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
  // [workloads] in the metric's unit.
  std::vector<double> Values(const std::string& scheduler, const ActionMetric& metric) const;
  double MeanOf(const std::string& scheduler, const ActionMetric& metric) const;
  // Of the means of several schedulers (a policy's seeds) over those of others or of one, paired by workload.
  Interval Ratio(const std::vector<std::string>& schedulers, const std::vector<std::string>& to,
                 const ActionMetric& metric) const;
  Interval Ratio(const std::vector<std::string>& schedulers, const std::string& to,
                 const ActionMetric& metric) const {
    return Ratio(schedulers, std::vector<std::string>{to}, metric);
  }
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

}  // namespace berth
