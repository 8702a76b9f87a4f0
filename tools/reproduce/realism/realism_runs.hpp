// Runs of one scheduler on several workloads: what a point of a curve and a row of the table say.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/reproduce/realism/realism.hpp"

namespace berth {

class RealismRuns {
 public:
  using Workload = std::function<Scenario(std::uint64_t seed)>;
  // Runs `scheduler` on workload(seed) for every seed below `seeds`.
  RealismRuns(int seeds, const std::string& scheduler, Window window, const Workload& workload);

  const std::vector<RunResult>& runs() const { return runs_; }  // by seed
  // Of metric / unit, over the workloads.
  double Mean(double Metrics::*metric, double unit = 1.0) const;
  double Mean(const char* of_feature) const;  // Metrics::Of
  Interval Estimate(double Metrics::*metric, double unit = 1.0) const;
  Interval Estimate(const char* of_feature) const;
  Interval JctHours() const { return Estimate(&Metrics::mean_jct_s, 3600.0); }

 private:
  std::vector<RunResult> runs_;
};

std::string Brackets(const Interval& interval, int decimals);  // "[low, high]"

}  // namespace berth
