// Estimators of throughputs: from what profiling measured to a whole table that schedulers believe. Adding
// one is a file with `EstimatorInfo XEstimator()` and a line in the table; `--estimates x(...)` knows it
// then.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "env/base/spec.hpp"
#include "env/predict/estimation/profiling.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

// Thread rule: any number of threads.
class Estimator {
 public:
  virtual ~Estimator() = default;
  // The logarithms of all rates [rows, columns of RateMatrix], thought from what was measured; those that are
  // not read are anything. `truth` is for what a method may know apart from the measurements: job types that
  // were profiled in full before, and which ways of running are impossible.
  virtual std::vector<double> Complete(const PartialMatrix& measured, const PartialMatrix& truth) const = 0;
};

struct EstimatorInfo {
  const char* name;
  const char* summary;
  const char* source;
  std::span<const ParamInfo> params;  // its own and kProfilingParams
  std::unique_ptr<Estimator> (*make)(Params& params);
};

#define BERTH_ESTIMATORS(X) \
  X(Completion)             \
  X(Reference)              \
  X(Profiled)

#define BERTH_DECLARE(Name) EstimatorInfo Name##Estimator();
BERTH_ESTIMATORS(BERTH_DECLARE)
#undef BERTH_DECLARE

// The table, in the order of the list.
std::span<const EstimatorInfo> Estimators();

// What all estimators are given.
#define BERTH_PROFILING_PARAMS(observed, seconds)                                                            \
  {"observed", observed, "probability that a way to run (job type, gang or partner, GPU type) is measured"}, \
      {"seconds", seconds, "of a profiling run; 0 = what is measured is known exactly, at no cost"},         \
      {"variation", "0.1", "standard deviation of a step's length over its mean"}, {                         \
    "seed", "0", "of what is measured and how wrongly"                                                       \
  }

// An estimator from its spec with its profiling: what the schedulers of a scenario with the feature estimates
// believe.
class RateEstimates {
 public:
  explicit RateEstimates(const std::string& spec);  // Error names what is wrong and the nearest right name

  struct Table {
    ThroughputTable believed;  // zeros where the truth has zeros, measured rates where they were measured
    Profile profile;
  };
  Table Estimate(const ThroughputTable& truth, int num_types) const;
  const std::string& resolved() const { return resolved_; }

  ProfilingPlan plan;  // from the spec; experiments vary it

 private:
  std::unique_ptr<Estimator> estimator_;
  std::string resolved_;
};

}  // namespace berth
