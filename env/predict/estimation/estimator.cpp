#include "env/predict/estimation/estimator.hpp"

#include "env/base/check.hpp"
#include "env/predict/estimation/rate_matrix.hpp"

namespace berth {
namespace {

constexpr long long kLargestSeed = 1'000'000'000;

const EstimatorInfo& FindEstimator(const std::string& name) {
  std::vector<std::string> names;
  for (const EstimatorInfo& info : Estimators()) {
    if (name == info.name) return info;
    names.emplace_back(info.name);
  }
  throw Error(Join("unknown estimator '", name, "'", DidYouMean(name, names)));
}

}  // namespace

std::span<const EstimatorInfo> Estimators() {
#define BERTH_ROW(Name) Name##Estimator(),
  static const EstimatorInfo table[] = {BERTH_ESTIMATORS(BERTH_ROW)};
#undef BERTH_ROW
  return table;
}

RateEstimates::RateEstimates(const std::string& text) {
  const Spec spec = ParseSpec(text);
  const EstimatorInfo& info = FindEstimator(spec.name);
  Params params(spec, info.params);
  plan.observed = params.Number("observed", 0.0, 1.0);
  plan.seconds = params.Number("seconds", 0.0, 1e9);
  plan.variation = params.Number("variation", 0.0, 10.0);
  plan.seed = static_cast<std::uint64_t>(params.Integer("seed", 0, kLargestSeed));
  estimator_ = info.make(params);
  params.CheckAllRead();
  resolved_ = params.Resolved();
}

RateEstimates::Table RateEstimates::Estimate(const ThroughputTable& truth, int num_types) const {
  Table table;
  table.profile = ProfileRates(truth, num_types, plan);
  const PartialMatrix& measured = table.profile.measured;
  std::vector<double> log_rates = estimator_->Complete(measured, RateMatrix(truth, num_types));
  for (std::size_t at = 0; at < log_rates.size(); ++at) {
    if (measured.known[at] != 0) log_rates[at] = measured.value[at];
  }
  table.believed = WithRates(truth, num_types, log_rates);
  return table;
}

}  // namespace berth
