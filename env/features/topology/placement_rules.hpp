// On which nodes a gang goes, by each rule of PlacementRule: the cluster's own choice, and of schedulers that
// name devices themselves.
//
// Source: best fit and worst fit, Johnson et al. 1974; consolidation of gangs, Gandiva (Xiao et al., OSDI
// 2018) and Tiresias (Gu et al., NSDI 2019).
#pragma once

#include <vector>

#include "env/features/topology/node_rooms.hpp"
#include "env/features/topology/topology.hpp"

namespace berth {

// What is idle: devices by node and, where the cluster's nodes have limits, the rest of their resources.
struct FreeNodes {
  NodeRooms rooms;
  // [N] of nodes that stand for themselves (ClusterLayout::host), whose slices draw on it too; empty = no
  // limits
  std::vector<NodeCapacity> left;

  const NodeCapacity& Left(int node) const {
    return left[static_cast<std::size_t>(rooms.layout().host[static_cast<std::size_t>(node)])];
  }
  int Room(int node, const NodeDemand& demand) const {  // for how many members
    const int idle = rooms.Idle(node);
    return left.empty() ? idle : berth::Room(idle, Left(node), demand);
  }
  // A member comes onto the node (devices 1) or leaves it (-1), taking a device or beside another on its own.
  void Take(int node, int members, const NodeDemand& demand, bool devices = true);
};

struct NodeShare {
  int node;
  int members;
};

// Fills `shares`, in the order of choice; false where the gang does not fit. O(nodes of the type / 64 x their
// devices) where one node holds it and nothing but devices is limited; O(nodes + gang log gang) otherwise.
bool ChooseNodes(PlacementRule rule, const FreeNodes& free, int type, int gang, const NodeDemand& demand,
                 std::vector<NodeShare>& shares);

// For who chooses by what is left, job by job.
enum class NodeWay {
  kFullest,   // PlacementRule::kConsolidate
  kEmptiest,  // the emptiest node, the lowest-numbered on ties; where none holds the gang, as kFullest
  kScraps,    // the fullest first, on as many as that takes
  kRack,  // the fewest nodes of the rack with most room, the first on ties; where none holds it, as kFullest
};
// As above. O(nodes of the type + gang log gang).
bool ChooseNodes(NodeWay way, const FreeNodes& free, int type, int gang, const NodeDemand& demand,
                 std::vector<NodeShare>& shares);

// Whether the gang would fit onto as few nodes as it can ever be on.
bool CanConsolidate(const FreeNodes& free, int type, int gang, const NodeDemand& demand);

}  // namespace berth
