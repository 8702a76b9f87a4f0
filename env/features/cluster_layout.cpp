#include "env/features/cluster_layout.hpp"

#include <cmath>

#include "env/features/physical_gpus.hpp"
#include "env/features/topology.hpp"
#include "env/index.hpp"
#include "env/scenario.hpp"

namespace berth {
namespace {

std::int64_t Thousandths(double x) {
  return x >= 0.0 && x < 1e15 ? std::llround(1000.0 * x) : kNoLimit;
}

std::int64_t OfType(const std::vector<double>& list, const ScenarioData& scenario, int type) {
  if (list.size() == 1) return Thousandths(list.front());
  if (list.empty() || list.size() != NumWholeTypes(scenario)) return kNoLimit;
  return Thousandths(list[EntryOfType(scenario, list.size(), type)]);
}

// Different values of `group` among the devices. Those of a placement come node by node, so nearly every
// device is in the group of the one before it.
template <class Group>
int Different(std::span<const int> devices, Group&& group) {
  int different = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const int own = group(devices[i]);
    if (i > 0 && group(devices[i - 1]) == own) continue;
    bool seen = false;
    for (std::size_t k = 0; k + 1 < i && !seen; ++k) seen = group(devices[k]) == own;
    different += !seen;
  }
  return different;
}

}  // namespace

NodeCapacity CapacityOf(const ScenarioData& scenario, int type) {
  NodeCapacity capacity;
  capacity.fill(kNoLimit);
  if (!scenario.features.topology) return capacity;
  const TopologySettings& settings = *scenario.features.topology;
  capacity[0] = OfType(settings.cpus_per_node, scenario, type);
  capacity[1] = OfType(settings.node_memory_gb, scenario, type);
  capacity[2] = OfType(settings.further_per_node, scenario, type);
  return capacity;
}

NodeDemand DemandOf(const ScenarioData& scenario, int job) {
  NodeDemand demand{};
  const JobTable& jobs = scenario.jobs;
  if (!jobs.demand.empty()) {
    const std::size_t stated = jobs.demand.size() / U(jobs.size());
    for (std::size_t r = 0; r < std::min<std::size_t>(stated, kResourceKinds); ++r) {
      demand[r] = Thousandths(jobs.demand[U(job) * stated + r]);
    }
  } else if (scenario.features.topology) {
    demand[0] = Thousandths(scenario.features.topology->cpus_per_gpu);
    demand[1] = Thousandths(scenario.features.topology->memory_gb_per_gpu);
  }
  return demand;
}

int ClusterLayout::NodesOf(std::span<const int> devices) const {
  return Different(devices, [this](int d) { return NodeOf(d); });
}

int ClusterLayout::RacksOf(std::span<const int> devices) const {
  return Different(devices, [this](int d) { return rack_of[U(NodeOf(d))]; });
}

ClusterLayout MakeLayout(std::span<const GpuType> types, int nodes_per_rack) {
  ClusterLayout layout;
  int device = 0, node = 0;
  NodeCapacity unlimited;
  unlimited.fill(kNoLimit);
  for (const GpuType& type : types) {
    layout.gpus_per_node.push_back(type.gpus_per_node);
    layout.first_node.push_back(node);
    layout.capacity.push_back(unlimited);
    for (int left = type.count; left > 0; left -= type.gpus_per_node, ++node) {
      layout.first_device.push_back(device);
      layout.type_of.push_back(static_cast<int>(layout.gpus_per_node.size()) - 1);
      const int in_type = node - layout.first_node.back();
      if (nodes_per_rack > 0 && in_type % nodes_per_rack == 0) ++layout.num_racks;
      if (nodes_per_rack == 0) layout.num_racks = 1;
      layout.rack_of.push_back(layout.num_racks - 1);
      layout.host.push_back(node);
      for (int k = std::min(left, type.gpus_per_node); k > 0; --k, ++device) layout.node_of.push_back(node);
    }
  }
  layout.first_node.push_back(node);
  layout.first_device.push_back(device);
  return layout;
}

ClusterLayout MakeLayout(const ScenarioData& scenario) {
  const int nodes_per_rack = scenario.features.topology ? scenario.features.topology->nodes_per_rack : 0;
  ClusterLayout layout = MakeLayout(scenario.cluster.types, nodes_per_rack);
  int racks = 0;  // of GPUs alone
  for (int type = 0; type < static_cast<int>(layout.capacity.size()); ++type) {
    layout.capacity[U(type)] = CapacityOf(scenario, type);
    for (std::int64_t limit : layout.capacity[U(type)]) layout.limited = layout.limited || limit < kNoLimit;
    const int whole = PartOf(scenario, type).whole, first = layout.first_node[U(type)];
    for (int node = first; node < layout.first_node[U(type) + 1]; ++node) {
      layout.host[U(node)] = layout.first_node[U(whole)] + (node - first);
      if (whole != type || nodes_per_rack == 0) continue;
      racks += (node - first) % nodes_per_rack == 0;
      layout.rack_of[U(node)] = racks - 1;
    }
  }
  for (int node = 0; node < layout.num_nodes(); ++node)
    layout.rack_of[U(node)] = layout.rack_of[U(layout.host[U(node)])];
  if (nodes_per_rack > 0) layout.num_racks = racks;
  return layout;
}

}  // namespace berth
