// How large a job is, from the jobs of its kind that have ended: what the scheduler `predicted` tells the one
// inside it, and what the feature `forecast` offers to all.
// Adding a predictor is a file with `SizePredictorInfo XSizePredictor()` and a line in the table.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <string>

#include "env/base/spec.hpp"

namespace berth {

// What is known of a job when it arrives. Sizes are in steps or seconds, as long as they are all the same.
struct JobKind {
  int job_type = 0, gang = 1, tenant = 0;
  double requested = std::numeric_limits<double>::quiet_NaN();  // size asked for, NaN = none
};

class ClusterView;
JobKind KindOf(const ClusterView& view, int job);  // sizes in steps

// Thread rule: one thread at a time.
class SizePredictor {
 public:
  virtual ~SizePredictor() = default;
  virtual void Forget() = 0;
  virtual void Add(const JobKind& kind, double size) = 0;  // a job that has ended
  // The whole size of a job that has done `attained` of it: more than that. Where nothing is known, or what
  // is known says less, twice what it has done, which is 0 of a job that has done nothing.
  virtual double Predict(const JobKind& kind, double attained) const = 0;
  virtual std::unique_ptr<SizePredictor> Clone() const = 0;  // with what it remembers
};

struct SizePredictorInfo {
  const char* name;
  const char* summary;
  const char* source;
  std::span<const ParamInfo> params;
  std::unique_ptr<SizePredictor> (*make)(Params& params);
};

#define BERTH_SIZE_PREDICTORS(X) \
  X(Residual)                    \
  X(Recent)                      \
  X(Request)

#define BERTH_DECLARE(Name) SizePredictorInfo Name##SizePredictor();
BERTH_SIZE_PREDICTORS(BERTH_DECLARE)
#undef BERTH_DECLARE

// The table, in the order of the list.
std::span<const SizePredictorInfo> SizePredictors();
// Throws Error for unknown names or parameters, with the nearest name.
std::unique_ptr<SizePredictor> MakeSizePredictor(const std::string& spec);

}  // namespace berth
