#include "data/alibaba_cluster.hpp"

#include <map>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// As far as the name tells it: G1 to G3 of 2023 stand for models not told, MISC of 2020 for several.
double MemoryGb(const std::string& model) {
  static const std::map<std::string, double> kKnown = {{"P100", 16}, {"T4", 16},      {"A10", 24},
                                                       {"V100", 16}, {"V100M16", 16}, {"V100M32", 32}};
  const auto at = kKnown.find(model);
  return at == kKnown.end() ? 0.0 : at->second;
}

}  // namespace

AlibabaCluster ClusterOf(const OpenbNodes& nodes) {
  std::map<std::pair<int, int>, int> gpus;  // (model, of a node)
  std::map<int, int> shapes;                // of a model
  for (const OpenbNode& node : nodes.nodes) {
    if (node.gpus == 0) continue;
    int& count = gpus[{node.model, node.gpus}];
    shapes[node.model] += count == 0;
    count += node.gpus;
  }
  AlibabaCluster cluster;
  cluster.types_of_model.resize(nodes.models.size());
  if (gpus.size() > 64)
    throw Error(
        Join("expected at most 64 GPU types, found ", gpus.size(), " models by the size of their machines"));
  for (const auto& [key, count] : gpus) {
    const auto& [model, per_node] = key;
    GpuType type;
    type.name = nodes.models[U(model)];
    if (shapes[model] > 1) type.name = Join(type.name, "x", per_node);
    type.count = count;
    type.gpus_per_node = per_node;
    type.memory_gb = MemoryGb(nodes.models[U(model)]);
    cluster.types_of_model[U(model)] |= std::uint64_t{1} << cluster.spec.types.size();
    cluster.spec.types.push_back(type);
  }
  return cluster;
}

}  // namespace berth
