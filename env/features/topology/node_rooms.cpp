#include "env/features/topology/node_rooms.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
NodeRooms::NodeRooms(std::shared_ptr<const ClusterLayout> layout)
    : layout_(std::move(layout)), idle_(U(layout_->num_nodes()), 0) {
  for (std::size_t type = 0; type < layout_->gpus_per_node.size(); ++type) {
    OfType own;
    const int first = layout_->first_node[type], nodes = layout_->first_node[type + 1] - first;
    // A node larger than the type has no more devices than the type.
    const int most = nodes > 0 ? layout_->Size(first) : 0;
    own.words = U((nodes + 63) / 64);
    own.nodes_with.assign(U(most + 1), 0);
    own.nodes_with[0] = nodes;
    own.nodes.assign(U(most + 1) * own.words, 0);
    for (int k = 0; k < nodes; ++k) own.nodes[U(k / 64)] |= std::uint64_t{1} << (k % 64);
    by_type_.push_back(std::move(own));
  }
}

void NodeRooms::Add(int node, int devices) {
  const int type = layout_->type_of[U(node)];
  OfType& own = by_type_[U(type)];
  const int before = idle_[U(node)], after = before + devices;
  BERTH_DCHECK(after >= 0 && after <= layout_->Size(node), "node ", node, ": ", after, " idle");
  const int k = node - layout_->first_node[U(type)];
  const std::uint64_t bit = std::uint64_t{1} << (k % 64);
  own.nodes[U(before) * own.words + U(k / 64)] &= ~bit;
  own.nodes[U(after) * own.words + U(k / 64)] |= bit;
  --own.nodes_with[U(before)], ++own.nodes_with[U(after)];
  own.idle += devices;
  idle_[U(node)] = after;
}

int NodeRooms::IdleBelow(int type, int need) const {
  const std::vector<int>& nodes_with = by_type_[U(type)].nodes_with;
  int idle = 0;
  for (int count = std::min(need, static_cast<int>(nodes_with.size())) - 1; count > 0; --count) {
    idle += count * nodes_with[U(count)];
  }
  return idle;
}

int NodeRooms::Next(int type, int idle, int from) const {
  const OfType& own = by_type_[U(type)];
  if (own.nodes_with[U(idle)] == 0) return -1;
  const int first = layout_->first_node[U(type)];
  const std::uint64_t* words = &own.nodes[U(idle) * own.words];
  const int k = std::max(0, from - first);
  for (std::size_t w = U(k / 64); w < own.words; ++w) {
    const std::uint64_t keep = w == U(k / 64) ? ~std::uint64_t{0} << (k % 64) : ~std::uint64_t{0};
    if (const std::uint64_t word = words[w] & keep; word != 0)
      return first + static_cast<int>(w) * 64 + std::countr_zero(word);
  }
  return -1;
}

}  // namespace berth
