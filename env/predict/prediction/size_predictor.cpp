#include "env/predict/prediction/size_predictor.hpp"

#include <vector>

#include "env/base/check.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

JobKind KindOf(const ClusterView& view, int job) {
  return {view.JobType(job), view.Gang(job), view.TenantOf(job),
          view.Requested(job) * view.BestRate(job)};  // NaN stays
}

std::span<const SizePredictorInfo> SizePredictors() {
#define BERTH_ROW(Name) Name##SizePredictor(),
  static const SizePredictorInfo table[] = {BERTH_SIZE_PREDICTORS(BERTH_ROW)};
#undef BERTH_ROW
  return table;
}

std::unique_ptr<SizePredictor> MakeSizePredictor(const std::string& text) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string> names;
  for (const SizePredictorInfo& info : SizePredictors()) {
    names.emplace_back(info.name);
    if (spec.name != info.name) continue;
    Params params(spec, info.params);
    auto predictor = info.make(params);
    params.CheckAllRead();
    return predictor;
  }
  throw Error(Join("unknown predictor '", spec.name, "'", DidYouMean(spec.name, names)));
}

}  // namespace berth
