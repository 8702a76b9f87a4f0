#include "env/predict/forecast/forecaster.hpp"

#include "env/base/check.hpp"

namespace berth {

std::span<const ForecasterInfo> Forecasters() {
#define BERTH_ROW(Name) Name##Forecaster(),
  static const ForecasterInfo table[] = {BERTH_FORECASTERS(BERTH_ROW)};
#undef BERTH_ROW
  return table;
}

std::unique_ptr<Forecaster> MakeForecaster(const std::string& text) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string> names;
  for (const ForecasterInfo& info : Forecasters()) {
    names.emplace_back(info.name);
    if (spec.name != info.name) continue;
    Params params(spec, info.params);
    auto forecaster = info.make(params);
    params.CheckAllRead();
    return forecaster;
  }
  throw Error(Join("unknown forecaster '", spec.name, "'", DidYouMean(spec.name, names)));
}

}  // namespace berth
