#include "agents/dqn/sum_tree.hpp"

#include <bit>

#include "agents/nn/kernels/sum_tree_search.hpp"
#include "env/base/check.hpp"

namespace berth {

SumTree::SumTree(std::size_t size) : size_(size), first_(std::bit_ceil(size)), node_(2 * first_, 0.0) {
  BERTH_CHECK(size > 0, "an empty tree");
}

void SumTree::Set(std::size_t leaf, double value) {
  BERTH_DCHECK(leaf < size_ && value >= 0.0, leaf, " ", value);
  std::size_t at = first_ + leaf;
  node_[at] = value;
  for (at /= 2; at >= 1; at /= 2) node_[at] = node_[2 * at] + node_[2 * at + 1];
}

std::size_t SumTree::Find(double mass) const {
  BERTH_CHECK(total() > 0.0, "nothing to draw");
  return LeafAt(node_.data(), first_, mass);
}

}  // namespace berth
