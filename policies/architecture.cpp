#include "policies/architecture.hpp"

#include "env/base/check.hpp"

namespace berth {

std::span<const ArchitectureInfo> Architectures() {
#define BERTH_ROW(function) function(),
  static const ArchitectureInfo kTable[] = {BERTH_ARCHITECTURES(BERTH_ROW)};
#undef BERTH_ROW
  return kTable;
}

const ArchitectureInfo& FindArchitecture(const std::string& name) {
  std::vector<std::string> names;
  for (const ArchitectureInfo& info : Architectures()) {
    if (name == info.name) return info;
    names.emplace_back(info.name);
  }
  std::string known;
  for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
  throw Error(Join("unknown network '", name, "'", DidYouMean(name, names), "; this build knows ", known));
}

std::string ResolveArchitecture(const std::string& text) {
  const Spec spec = ParseSpec(text);
  return Params(spec, FindArchitecture(spec.name).params).Resolved();
}

std::vector<LayerSpec> LayersOf(const std::string& text, const ObservationLayout& layout, int num_actions) {
  const Spec spec = ParseSpec(text);
  const ArchitectureInfo& info = FindArchitecture(spec.name);
  Params params(spec, info.params);
  std::vector<LayerSpec> layers = info.layers(params, layout, num_actions);
  params.CheckAllRead();
  return layers;
}

}  // namespace berth
