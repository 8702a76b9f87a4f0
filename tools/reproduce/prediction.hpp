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
  // [J] s from arrival to start, where the log says when jobs started; empty = each is read as if at once.
  std::vector<double> wait_s = {};

  double start(std::size_t job) const {
    return jobs.data().jobs.arrival[job] + (wait_s.empty() ? 0.0 : wait_s[job]);
  }
};

// Those of `folder` (philly, ...: kLogs) that are there; what is not is said in `skipped`, a line each.
// `train` is the earlier part's share of the time from the first arrival to the last.
std::vector<PredictionLog> PredictionLogs(const std::string& folder, double train,
                                          std::vector<std::string>& skipped);

// What arrives at a cluster, hourly, of a whole log: from the first arrival's hour to the last one's.
std::vector<double> ArrivalsAnHour(const PredictionLog& log);
// GPUs asked for: the mean over each hour of those of jobs that have started (PredictionLog::start) and still
// run. Where the log says starts these are the GPUs in use.
std::vector<double> DemandedGpus(const PredictionLog& log);

struct ForecastError {
  std::string forecaster;  // spec
  bool naive;              // one that others should beat
  double mean_absolute;    // of the later part's hours
};
// `ahead` hours before; parameters from the hours before `split`, which also are all that is fitted.
std::vector<ForecastError> ForecastErrors(const std::vector<double>& series, std::size_t split, int ahead);

// Of run times: each job of the later part is predicted when it arrives, from all jobs that have ended by
// then, by PredictionLog::start.
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
