// Nearest-reference matching as an estimator: every other job type was profiled in full before.
#include <numeric>

#include "env/base/check.hpp"
#include "env/predict/estimation/estimator.hpp"
#include "env/predict/estimation/nearest_reference.hpp"

namespace berth {
namespace {

constexpr ParamInfo kReferenceParams[] = {BERTH_PROFILING_PARAMS("0.3", "0")};

class Reference final : public Estimator {
 public:
  std::vector<double> Complete(const PartialMatrix& measured, const PartialMatrix& truth) const override {
    if (measured.rows < 2) {
      throw Error(Join("reference: expected a table of at least 2 job types, found ", measured.rows));
    }
    std::vector<int> own(static_cast<std::size_t>(measured.rows));
    std::iota(own.begin(), own.end(), 0);
    return CompleteByReference(measured, truth, own);
  }
};

}  // namespace

EstimatorInfo ReferenceEstimator() {
  return {"reference",
          "the job type, of those profiled in full before, that the measured rates are most like",
          "Gavel, OSDI 2020, §6; classification of Paragon, ASPLOS 2013", kReferenceParams,
          [](Params&) -> std::unique_ptr<Estimator> { return std::make_unique<Reference>(); }};
}

}  // namespace berth
