// Jobs in ascending order of (key, job), each with a few numbers ("lanes") of which every subtree knows the
// least: insertion, removal and "the first job after this one whose lanes pass a threshold" are logarithmic.
// A treap (Seidel & Aragon, Algorithmica 16, 1996) with priorities hashed from the job, so that its shape
// depends on the jobs in it alone. Nodes are reused: it allocates only until it has held the most jobs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth {

class JobTree {
 public:
  struct Entry {
    double key;
    int job;  // -1 = none
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.key != b.key ? a.key < b.key : a.job < b.job;
    }
  };
  static constexpr Entry kNone{0.0, -1};

  explicit JobTree(int lanes = 0) : lanes_(static_cast<std::size_t>(lanes)) {}
  void Clear();
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void Insert(const Entry& entry, std::span<const double> lanes = {});  // REQUIRES: not there
  void Erase(const Entry& entry);                                       // REQUIRES: there

  // The first entry, or the first after `after` if it is given, with accept(its lanes); kNone if there is
  // none. `accept` must hold for the least of several lanes, lane by lane, where it holds for one of them;
  // the search is logarithmic where the converse holds too, as for "one of the lanes is at most its
  // threshold".
  template <class Accept>
  Entry First(const Entry* after, const Accept& accept) const {
    const int found = Find(root_, after, accept);
    return found < 0 ? kNone : nodes_[Index(found)].entry;
  }
  Entry First(const Entry* after = nullptr) const {
    return First(after, [](std::span<const double>) { return true; });
  }

 private:
  struct Node {
    Entry entry;
    std::uint32_t priority;
    int left, right;
  };
  static std::size_t Index(int node) { return static_cast<std::size_t>(node); }
  std::span<const double> Own(int node) const { return {own_.data() + Index(node) * lanes_, lanes_}; }
  std::span<const double> Least(int node) const { return {least_.data() + Index(node) * lanes_, lanes_}; }
  int MakeNode(const Entry& entry, std::span<const double> lanes);
  void Refresh(int node);                                         // least of it and its children
  void Split(int node, const Entry& at, int& before, int& from);  // from: not before `at`
  int Join(int before, int from);                                 // all of `before` come first
  int Put(int tree, int node);                                    // the tree with the node in it
  int Take(int tree, const Entry& entry);                         // the tree without it

  template <class Accept>
  int Find(int node, const Entry* after, const Accept& accept) const {
    if (node < 0 || !accept(Least(node))) return -1;
    const Node& n = nodes_[Index(node)];
    if (after != nullptr && !(*after < n.entry)) return Find(n.right, after, accept);
    if (const int left = Find(n.left, after, accept); left >= 0) return left;
    if (accept(Own(node))) return node;
    return Find(n.right, nullptr, accept);
  }

  std::size_t lanes_;
  int root_ = -1, size_ = 0;
  std::vector<Node> nodes_;
  std::vector<double> own_, least_;  // [nodes, lanes]
  std::vector<int> unused_;
};

}  // namespace berth
