// Low-rank matrix completion as an estimator: job types by ways of running, in logarithms.
#include "env/predict/estimation/estimator.hpp"
#include "env/predict/estimation/low_rank.hpp"

namespace berth {
namespace {

constexpr ParamInfo kCompletionParams[] = {
    BERTH_PROFILING_PARAMS("0.3", "0"),
    {"rank", "5", "factors of a job type beside its offset, from 0"},
    {"ridge", "0.3", "penalty on the factors, above 0"},
};

class MatrixCompletion final : public Estimator {
 public:
  explicit MatrixCompletion(const LowRankOptions& options) : options_(options) {}
  std::vector<double> Complete(const PartialMatrix& measured, const PartialMatrix&) const override {
    return CompleteLowRank(measured, options_);
  }

 private:
  LowRankOptions options_;
};

}  // namespace

EstimatorInfo CompletionEstimator() {
  return {"completion", "low-rank matrix completion of the measured log rates, by alternating least squares",
          "Paragon, ASPLOS 2013; Gavel, OSDI 2020, §6; ALS: Zhou et al., AAIM 2008", kCompletionParams,
          [](Params& params) -> std::unique_ptr<Estimator> {
            LowRankOptions options;
            options.rank = static_cast<int>(params.Integer("rank", 0, 100));
            options.factor_ridge = params.Number("ridge", 1e-9, 1e9);
            return std::make_unique<MatrixCompletion>(options);
          }};
}

}  // namespace berth
