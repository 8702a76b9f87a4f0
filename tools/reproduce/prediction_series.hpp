// Errors of forecasts of what arrives at a cluster, on public logs.
#pragma once

#include <string>
#include <vector>

#include "tools/reproduce/prediction_logs.hpp"

namespace berth {

// Hourly, of a whole log: from the first arrival's hour to the last one's.
std::vector<double> ArrivalsAnHour(const Scenario& jobs);
// GPUs asked for: the mean over each hour of those of jobs that have arrived and would still run, had each
// started at once.
std::vector<double> DemandedGpus(const Scenario& jobs);

struct ForecastError {
  std::string forecaster;  // spec
  bool naive;              // one that others should beat
  double mean_absolute;    // of the later part's hours
};
// `ahead` hours before; parameters from the hours before `split`, which also are all that is fitted.
std::vector<ForecastError> ForecastErrors(const std::vector<double>& series, std::size_t split, int ahead);

}  // namespace berth
