#include "env/features/topology/cluster_layout.hpp"

#include <cmath>

#include "env/base/index.hpp"
#include "env/features/topology/topology.hpp"
#include "env/sim/physical_gpus.hpp"
#include "env/sim/scenario.hpp"

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

NodeCapacity CapacityOf(const TopologySettings& settings, const ScenarioData& scenario, int type) {
  NodeCapacity capacity;
  capacity.fill(kNoLimit);
  capacity[0] = OfType(settings.cpus_per_node, scenario, type);
  capacity[1] = OfType(settings.node_memory_gb, scenario, type);
  capacity[2] = OfType(settings.further_per_node, scenario, type);
  return capacity;
}

NodeDemand DemandOf(const TopologySettings& settings, const ScenarioData& scenario, int job) {
  NodeDemand demand{};
  const JobTable& jobs = scenario.jobs;
  if (!jobs.demand.empty()) {
    const std::size_t stated = jobs.demand.size() / U(jobs.size());
    for (std::size_t r = 0; r < std::min<std::size_t>(stated, kResourceKinds); ++r) {
      demand[r] = Thousandths(jobs.demand[U(job) * stated + r]);
    }
  } else {
    demand[0] = Thousandths(settings.cpus_per_gpu);
    demand[1] = Thousandths(settings.memory_gb_per_gpu);
  }
  return demand;
}

int ClusterLayout::NodesOf(std::span<const int> devices) const {
  return Different(devices, [this](int d) { return NodeOf(d); });
}

int ClusterLayout::RacksOf(std::span<const int> devices) const {
  return Different(devices, [this](int d) { return rack_of[U(NodeOf(d))]; });
}

ClusterLayout MakeLayout(std::span<const GpuType> types, int nodes_per_rack, std::span<const int> whole) {
  ClusterLayout layout;
  int device = 0, node = 0;
  NodeCapacity unlimited;
  unlimited.fill(kNoLimit);
  if (nodes_per_rack == 0) layout.num_racks = 1;
  for (std::size_t g = 0; g < types.size(); ++g) {
    const GpuType& type = types[g];
    const bool slices = !whole.empty() && U(whole[g]) != g;
    layout.gpus_per_node.push_back(type.gpus_per_node);
    layout.first_node.push_back(node);
    layout.capacity.push_back(unlimited);
    for (int left = type.count; left > 0; left -= type.gpus_per_node, ++node) {
      layout.first_device.push_back(device);
      layout.type_of.push_back(static_cast<int>(g));
      const int in_type = node - layout.first_node.back();
      if (!slices && nodes_per_rack > 0 && in_type % nodes_per_rack == 0) ++layout.num_racks;
      layout.rack_of.push_back(layout.num_racks - 1);
      layout.host.push_back(node);
      for (int k = std::min(left, type.gpus_per_node); k > 0; --k, ++device) layout.node_of.push_back(node);
    }
  }
  layout.first_node.push_back(node);
  layout.first_device.push_back(device);
  for (int n = 0; !whole.empty() && n < node; ++n) {
    const std::size_t g = U(layout.type_of[U(n)]);
    layout.host[U(n)] = layout.first_node[U(whole[g])] + (n - layout.first_node[g]);
    layout.rack_of[U(n)] = layout.rack_of[U(layout.host[U(n)])];
  }
  return layout;
}

ClusterLayout MakeLayout(const TopologySettings& settings, const ScenarioData& scenario) {
  std::vector<int> whole;
  for (int g = 0; g < static_cast<int>(scenario.cluster.types.size()); ++g)
    whole.push_back(PartOf(scenario, g).whole);
  ClusterLayout layout = MakeLayout(scenario.cluster.types, settings.nodes_per_rack, whole);
  for (std::size_t type = 0; type < layout.capacity.size(); ++type) {
    layout.capacity[type] = CapacityOf(settings, scenario, static_cast<int>(type));
    for (std::int64_t limit : layout.capacity[type]) layout.limited = layout.limited || limit < kNoLimit;
  }
  return layout;
}

}  // namespace berth
