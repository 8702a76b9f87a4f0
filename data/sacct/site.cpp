#include "data/sacct/site.hpp"

#include <filesystem>

#include "data/gpu_types.hpp"
#include "data/tables/words.hpp"
#include "env/base/check.hpp"

namespace berth {

std::string Beside(const std::string& path, const char* name) {
  const std::string file = path.substr(0, path.find_last_of('/') + 1) + name;
  return std::filesystem::exists(file) ? file : "";
}

Site SiteOf(const std::string& path, const ScenarioSettings& settings) {
  Site site;
  const std::string conf = Beside(path, "slurm.conf");
  if (!settings.cluster.types.empty()) {
    site.cluster = settings.cluster;
    for (const GpuType& type : site.cluster.types) site.asked_as.push_back(type.name);
    return site;
  }
  if (conf.empty())
    throw Error(
        Join(path, ": accounting says nothing of its cluster: give --cluster, or put slurm.conf beside it"));
  const std::vector<SlurmLine> lines = ReadSlurmConf(conf);
  const SlurmNodes nodes = NodesOf(lines, conf);
  if (nodes.nodes.empty()) throw Error(Join(conf, ": expected nodes with Gres=gpu:TYPE:COUNT, found none"));
  std::map<std::string, int> number;
  for (const SlurmNode& node : nodes.nodes) {
    if (number.try_emplace(node.type, static_cast<int>(site.cluster.types.size())).second) {
      GpuType type;
      for (const GpuType& shipped : ShippedGpuTypes()) {
        if (SameWord(shipped.name, node.gpu_type)) type = shipped;
      }
      type.name = node.type;
      type.count = 0;
      type.gpus_per_node = node.gpus;
      site.cluster.types.push_back(type);
      site.asked_as.push_back(node.gpu_type);
      if (site.cluster.types.size() > 64)
        throw Error(Join(conf, ": expected at most 64 GPU types, found more"));
    }
    site.cluster.types[static_cast<std::size_t>(number[node.type])].count += node.gpus;
  }
  for (const SlurmPartition& partition : PartitionsOf(lines, nodes, conf)) {
    std::uint64_t& bits = site.of_partition[partition.name];
    for (int node : partition.nodes)
      bits |= std::uint64_t{1} << number[nodes.nodes[static_cast<std::size_t>(node)].type];
  }
  site.nodes = nodes.nodes;
  site.future_nodes = static_cast<int>(nodes.future.size());
  return site;
}

}  // namespace berth
