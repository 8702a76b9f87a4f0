// Which device is in which node, which node in which rack, and what a node has beside devices.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace berth {

struct GpuType;
struct ScenarioData;
struct TopologySettings;

// Further resources: CPU cores, memory, and one more. In thousandths, so that what is taken and given back
// adds up exactly.
inline constexpr int kResourceKinds = 3;
using NodeCapacity = std::array<std::int64_t, kResourceKinds>;
using NodeDemand = std::array<std::int64_t, kResourceKinds>;  // of each member of a gang
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() / 4;

// kNoLimit where nothing is stated
NodeCapacity CapacityOf(const TopologySettings& settings, const ScenarioData& scenario, int type);
NodeDemand DemandOf(const TopologySettings& settings, const ScenarioData& scenario, int job);

// How many members fit on a node with `devices` idle devices and `left` of its resources.
inline int Room(int devices, const NodeCapacity& left, const NodeDemand& demand) {
  std::int64_t room = devices;
  for (int r = 0; r < kResourceKinds; ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (demand[i] > 0) room = std::min(room, left[i] / demand[i]);
  }
  return static_cast<int>(room);
}

// Devices are numbered type by type and nodes too, so every range is consecutive. MIG slices are devices of
// types of their own: here each such type has nodes of its own for the room that its
// devices have, and `host` says in which node they really stand, with its rack and its resources.
struct ClusterLayout {
  std::vector<int> gpus_per_node;  // [G]
  std::vector<int> first_node;     // [G + 1]
  std::vector<int> first_device;   // [N + 1] of each node
  std::vector<int> node_of;        // [D]
  std::vector<int> type_of;        // [N]
  std::vector<int> rack_of;        // [N]
  std::vector<int> host;           // [N] the node itself but where it holds slices
  int num_racks = 0;
  std::vector<NodeCapacity> capacity;  // [G]
  bool limited = false;                // some resource of some node is

  int num_nodes() const { return static_cast<int>(type_of.size()); }
  int NodeOf(int device) const { return node_of[static_cast<std::size_t>(device)]; }
  int Size(int node) const {  // devices
    const auto n = static_cast<std::size_t>(node);
    return first_device[n + 1] - first_device[n];
  }
  // As few nodes as a gang can be on: what counts as consolidated.
  int FewestNodes(int type, int gang) const {
    return (gang - 1) / gpus_per_node[static_cast<std::size_t>(type)] + 1;
  }
  int HostOf(int device) const { return host[static_cast<std::size_t>(NodeOf(device))]; }
  int NodesOf(std::span<const int> devices) const;  // how many different ones
  int RacksOf(std::span<const int> devices) const;
};

// `nodes_per_rack` 0 = one rack. `whole`: [G] the type of the GPUs that a type's devices are, or are slices
// of; empty = there are no slices. Without limits on resources.
ClusterLayout MakeLayout(std::span<const GpuType> types, int nodes_per_rack, std::span<const int> whole = {});
ClusterLayout MakeLayout(const TopologySettings& settings, const ScenarioData& scenario);

}  // namespace berth
