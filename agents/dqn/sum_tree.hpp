// Numbers >= 0 from which one is drawn in proportion to its share of the sum, both in logarithmic time: the
// sum tree of Schaul et al. 2016 (appendix B.2.1). Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

class SumTree {
 public:
  explicit SumTree(std::size_t size);  // all 0

  // Every node is the sum of its two children, computed anew: the tree is a function of its leaves alone, so
  // that a restored one goes on bit for bit and nothing drifts.
  void Set(std::size_t leaf, double value);
  double operator[](std::size_t leaf) const { return node_[first_ + leaf]; }
  double total() const { return node_[1]; }
  std::size_t size() const { return size_; }
  // The leaf at `mass` in [0, total) of the leaves laid end to end. One whose value is above 0, where any is.
  std::size_t Find(double mass) const;

 private:
  std::size_t size_, first_;  // first leaf: a power of two
  std::vector<double> node_;  // 1 is the root, 2 i and 2 i + 1 are the children of i
};

}  // namespace berth
