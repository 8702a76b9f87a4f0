// Mean sizes of job types: given, or learned from the jobs that completed.
#pragma once

#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

inline constexpr ParamInfo kMeansParam = {
    "means", "learned",
    "mean steps of each job type, in their order, as in 100:2000; learned = of completed jobs"};

// A job type of which none has completed is thought to have the mean of all that have; 1 step before that.
class ClassMeans {
 public:
  // `component` is named in errors.
  ClassMeans(Params& params, const std::string& component);
  void Reset(const ClusterView& view);  // throws Error where `means` does not name every job type
  void Learn(const ClusterView& view);  // at every decision point; needs kBlind
  double Mean(int job_type) const;      // steps

 private:
  std::string component_;
  std::vector<double> given_;  // empty = learned
  std::vector<double> sum_, count_;
  double all_sum_ = 0.0, all_count_ = 0.0;
};

}  // namespace berth
