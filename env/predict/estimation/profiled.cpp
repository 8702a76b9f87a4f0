// Profiling alone as an estimator: every way of running is measured, for a while. What a run was too short to
// measure is completed.
#include "env/predict/estimation/estimator.hpp"
#include "env/predict/estimation/low_rank.hpp"

namespace berth {
namespace {

constexpr ParamInfo kProfiledParams[] = {BERTH_PROFILING_PARAMS("1", "60")};

class Profiled final : public Estimator {
 public:
  std::vector<double> Complete(const PartialMatrix& measured, const PartialMatrix&) const override {
    return CompleteLowRank(measured, {});
  }
};

}  // namespace

EstimatorInfo ProfiledEstimator() {
  return {"profiled", "a profiling run of every way of running; completed where a run was too short",
          "Quasar, Delimitrou & Kozyrakis, ASPLOS 2014", kProfiledParams,
          [](Params&) -> std::unique_ptr<Estimator> { return std::make_unique<Profiled>(); }};
}

}  // namespace berth
