// Errors of predicted run times on public logs: each job of the later part is predicted when it arrives, from
// all jobs that have ended by then, had each started at once (the logs do not say when they did).
#pragma once

#include <string>
#include <vector>

#include "tools/reproduce/prediction_logs.hpp"

namespace berth {

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
