#include "agents/nn/fused/fused_network.hpp"

#include "policies/architecture.hpp"

namespace berth {

std::unique_ptr<FusedNetwork> MakeFused(const std::string& text, const ObservationLayout& layout,
                                        int num_actions, std::span<const ParameterView> parameters) {
#define BERTH_ROW(function) function(),
  static const FusedInfo kTable[] = {BERTH_FUSED_NETWORKS(BERTH_ROW)};
#undef BERTH_ROW
  const Spec spec = ParseSpec(text);
  for (const FusedInfo& info : kTable) {
    if (spec.name != info.name) continue;
    Params params(spec, FindArchitecture(spec.name).params);
    return info.make(params, layout, num_actions, parameters);
  }
  return nullptr;
}

}  // namespace berth
