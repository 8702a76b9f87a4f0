// How many idle devices each node has, and the nodes of a type by that number: so that the fullest or
// emptiest node with room is found without looking at all of them.
//
// A pass over one number costs a 64th of the type's nodes; a type's lists have nodes x devices of a node
// bits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "env/features/topology/cluster_layout.hpp"

namespace berth {

class NodeRooms {
 public:
  explicit NodeRooms(std::shared_ptr<const ClusterLayout> layout);  // no device is idle

  const ClusterLayout& layout() const { return *layout_; }
  int Idle(int node) const { return idle_[static_cast<std::size_t>(node)]; }
  void Add(int node, int devices);  // that become idle, or negative: that are taken

  int IdleOfType(int type) const { return by_type_[static_cast<std::size_t>(type)].idle; }
  // How many of the type are idle on nodes with fewer than `need` idle ones.
  int IdleBelow(int type, int need) const;
  // How many nodes of the type have exactly `idle` idle devices.
  int NodesWith(int type, int idle) const {
    return by_type_[static_cast<std::size_t>(type)].nodes_with[static_cast<std::size_t>(idle)];
  }
  // The first node of the type from `from` on with exactly `idle` idle devices; -1 = none.
  int Next(int type, int idle, int from) const;

 private:
  struct OfType {
    int idle = 0;
    std::size_t words = 0;             // of a list
    std::vector<int> nodes_with;       // [devices of a node + 1]
    std::vector<std::uint64_t> nodes;  // [devices of a node + 1, words] bit k: the type's k-th node
  };

  std::shared_ptr<const ClusterLayout> layout_;
  std::vector<int> idle_;  // [N]
  std::vector<OfType> by_type_;
};

}  // namespace berth
