#include "policies/architecture.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

std::vector<ArchitectureInfo>& Table() {
#define BERTH_ROW(function) function(),
  static std::vector<ArchitectureInfo> table = {BERTH_ARCHITECTURES(BERTH_ROW)};
#undef BERTH_ROW
  return table;
}

}  // namespace

std::span<const ArchitectureInfo> Architectures() {
  return Table();
}

AlsoKnown::AlsoKnown(const ArchitectureInfo& info) {
  Table().push_back(info);
}

AlsoKnown::~AlsoKnown() {
  Table().pop_back();
}

const ArchitectureInfo& FindArchitecture(const std::string& name) {
  std::vector<std::string> names;
  for (const ArchitectureInfo& info : Architectures()) {
    if (name == info.name) return info;
    names.emplace_back(info.name);
  }
  throw Error(
      Join("unknown network '", name, "'", DidYouMean(name, names), "; this build knows ", Listed(names)));
}

std::string ResolveArchitecture(const std::string& text) {
  const Spec spec = ParseSpec(text);
  return Params(spec, FindArchitecture(spec.name).params).Resolved();
}

std::string WidenArchitecture(const std::string& text, int times) {
  Spec spec = ParseSpec(ResolveArchitecture(text));
  const std::string units = Join(",", FindArchitecture(spec.name).units, ",");
  for (auto& [name, value] : spec.params) {
    if (units.find(Join(",", name, ",")) == std::string::npos) continue;
    std::string wide;
    for (std::size_t begin = 0; begin <= value.size();) {
      const std::size_t end = std::min(value.find('x', begin), value.size());
      const long long layer = ParseInteger(std::string_view(value).substr(begin, end - begin), name);
      wide += Join(begin > 0 ? "x" : "", layer * times);
      begin = end + 1;
    }
    value = wide;
  }
  return spec.ToString();
}

NetworkDescription Describe(const std::string& text, const ObservationLayout& layout, int num_actions,
                            int outputs) {
  const Spec spec = ParseSpec(text);
  const ArchitectureInfo& info = FindArchitecture(spec.name);
  Params params(spec, info.params);
  NetworkDescription net(layout, num_actions, outputs);
  info.describe(params, net);
  params.CheckAllRead();
  return net;
}

std::vector<LayerSpec> LayersOf(const std::string& spec, const ObservationLayout& layout, int num_actions) {
  return Describe(spec, layout, num_actions).layers();
}

int MemoryOf(const std::string& spec, const ObservationLayout& layout, int num_actions) {
  return Describe(spec, layout, num_actions).memory();
}

}  // namespace berth
