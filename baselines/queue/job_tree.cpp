#include "baselines/queue/job_tree.hpp"

#include <algorithm>

#include "env/base/check.hpp"

namespace berth {
namespace {

// splitmix64's finaliser (Steele et al. 2014).
std::uint32_t Priority(int job) {
  std::uint64_t x = static_cast<std::uint64_t>(job) + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<std::uint32_t>(x >> 32);
}

}  // namespace

void JobTree::Clear() {
  root_ = -1, size_ = 0;
  nodes_.clear(), own_.clear(), least_.clear(), unused_.clear();
}

int JobTree::MakeNode(const Entry& entry, std::span<const double> lanes) {
  int node = static_cast<int>(nodes_.size());
  if (unused_.empty()) {
    nodes_.emplace_back();
    own_.resize(own_.size() + lanes_), least_.resize(least_.size() + lanes_);
  } else {
    node = unused_.back();
    unused_.pop_back();
  }
  nodes_[Index(node)] = {entry, Priority(entry.job), -1, -1};
  std::copy(lanes.begin(), lanes.end(), own_.data() + Index(node) * lanes_);
  Refresh(node);
  return node;
}

void JobTree::Refresh(int node) {
  double* least = least_.data() + Index(node) * lanes_;
  const std::span<const double> own = Own(node);
  std::copy(own.begin(), own.end(), least);
  for (const int child : {nodes_[Index(node)].left, nodes_[Index(node)].right}) {
    if (child < 0) continue;
    const std::span<const double> below = Least(child);
    for (std::size_t lane = 0; lane < lanes_; ++lane) least[lane] = std::min(least[lane], below[lane]);
  }
}

void JobTree::Split(int node, const Entry& at, int& before, int& from) {
  if (node < 0) {
    before = from = -1;
    return;
  }
  Node& n = nodes_[Index(node)];  // nothing is made on the way, so references stay
  if (n.entry < at) {
    Split(n.right, at, n.right, from);
    before = node;
  } else {
    Split(n.left, at, before, n.left);
    from = node;
  }
  Refresh(node);
}

int JobTree::Join(int before, int from) {
  if (before < 0 || from < 0) return before < 0 ? from : before;
  if (nodes_[Index(before)].priority > nodes_[Index(from)].priority) {
    nodes_[Index(before)].right = Join(nodes_[Index(before)].right, from);
    Refresh(before);
    return before;
  }
  nodes_[Index(from)].left = Join(before, nodes_[Index(from)].left);
  Refresh(from);
  return from;
}

int JobTree::Put(int tree, int node) {
  Node& n = nodes_[Index(node)];
  if (tree < 0) return node;
  Node& t = nodes_[Index(tree)];
  if (n.priority > t.priority) {
    Split(tree, n.entry, n.left, n.right);
    Refresh(node);
    return node;
  }
  int& side = n.entry < t.entry ? t.left : t.right;
  side = Put(side, node);
  Refresh(tree);
  return tree;
}

int JobTree::Take(int tree, const Entry& entry) {
  BERTH_CHECK(tree >= 0, "job ", entry.job, " is not in the tree");
  Node& t = nodes_[Index(tree)];
  if (t.entry.job == entry.job) {
    unused_.push_back(tree);
    return Join(t.left, t.right);
  }
  int& side = entry < t.entry ? t.left : t.right;
  side = Take(side, entry);
  Refresh(tree);
  return tree;
}

void JobTree::Insert(const Entry& entry, std::span<const double> lanes) {
  BERTH_DCHECK(lanes.size() == lanes_, lanes.size(), " numbers for ", lanes_, " lanes");
  const int node = MakeNode(entry, lanes);
  root_ = Put(root_, node);
  ++size_;
}

void JobTree::Erase(const Entry& entry) {
  root_ = Take(root_, entry);
  --size_;
}

}  // namespace berth
