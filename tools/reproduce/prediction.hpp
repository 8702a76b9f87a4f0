// Errors of predictions on public logs, which are split by time: parameters come from the earlier part,
// errors from the later one.
#pragma once

#include <string>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

struct PredictionLog {
  std::string name;
  std::string what;  // what is known of a job when it arrives
  Scenario jobs;     // steps are seconds
  double split_s;    // the later part begins here
  int first_test;    // job
};

// Those of `folder` (philly, ...: kLogs) that are there; what is not is said in `skipped`, a line each.
// `train` is the earlier part's share of the time from the first arrival to the last.
std::vector<PredictionLog> PredictionLogs(const std::string& folder, double train,
                                          std::vector<std::string>& skipped);

// What arrives at a cluster, hourly, of a whole log: from the first arrival's hour to the last one's.
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

// Of run times: each job of the later part is predicted when it arrives, from
// all jobs that have ended by then, had each started at once (the logs do not say when they did).
struct SizeError {
  std::string predictor;  // spec
  bool naive;             // one that others should beat
  double median_factor;   // exp of the median of |log(predicted / true)|: half are within this factor
  double within_two;      // share of jobs predicted within a factor of 2
  double mean_absolute;   // s
  double above;           // share predicted longer than they are
};
std::vector<SizeError> SizeErrors(const PredictionLog& log);

}  // namespace berth
