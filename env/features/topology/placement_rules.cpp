#include "env/features/topology/placement_rules.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth {
namespace {

using NodeShares = std::vector<NodeShare>;

class Chooser {
 public:
  Chooser(const FreeNodes& free, int type, int gang, const NodeDemand& demand)
      : free_(free), layout_(free.rooms.layout()), type_(type), gang_(gang), demand_(demand) {
    first_ = layout_.first_node[U(type)], last_ = layout_.first_node[U(type) + 1];
    most_ = first_ < last_ ? layout_.Size(first_) : 0;
  }

  // The fullest node that holds `members`, the lowest-numbered on ties; -1 = none does.
  int Fullest(int members, int first, int last) const {
    for (int idle = members; idle <= most_; ++idle) {
      for (int node = free_.rooms.Next(type_, idle, first); node >= 0 && node < last;
           node = free_.rooms.Next(type_, idle, node + 1)) {
        if (Room(node) >= members) return node;
      }
    }
    return -1;
  }

  bool Lowest(NodeShares& shares) const {
    int left = gang_;
    for (int node = first_; node < last_ && left > 0; ++node) Put(node, left, shares);
    return left == 0;
  }

  bool BestFit(NodeShares& shares) const { return One(shares) || Scraps(shares); }

  bool Scraps(NodeShares& shares) const {
    int left = gang_;
    for (int idle = 1; idle <= most_ && left > 0; ++idle) {
      for (int node = free_.rooms.Next(type_, idle, first_); node >= 0 && left > 0;
           node = free_.rooms.Next(type_, idle, node + 1)) {
        Put(node, left, shares);
      }
    }
    return left == 0;
  }

  bool Consolidate(NodeShares& shares) const {
    if (One(shares)) return true;
    if (Fewest(first_, last_, shares) < 0) return false;
    NodeShares in_rack, best;
    int best_rest = 0;
    for (int begin = first_, end = first_; begin < last_; begin = end) {
      while (end < last_ && layout_.rack_of[U(end)] == layout_.rack_of[U(begin)]) ++end;
      const int rest = Fewest(begin, end, in_rack);
      if (rest < 0 || in_rack.size() > shares.size()) continue;
      if (best.empty() || rest < best_rest) best = in_rack, best_rest = rest;
    }
    if (!best.empty()) shares = std::move(best);
    return true;
  }

  bool Emptiest(NodeShares& shares) const {
    for (int idle = most_; idle >= gang_; --idle) {
      for (int node = free_.rooms.Next(type_, idle, first_); node >= 0;
           node = free_.rooms.Next(type_, idle, node + 1)) {
        if (Room(node) < gang_) continue;
        shares.push_back({node, gang_});
        return true;
      }
    }
    return Consolidate(shares);
  }

  bool RackWithMost(NodeShares& shares) const {
    int from = 0, to = 0, most = 0;
    for (int begin = first_, end = first_; begin < last_; begin = end) {
      int room = 0;
      for (; end < last_ && layout_.rack_of[U(end)] == layout_.rack_of[U(begin)]; ++end) room += Room(end);
      if (room > most) from = begin, to = end, most = room;
    }
    if (most < gang_) return Consolidate(shares);
    return Fewest(from, to, shares) >= 0;
  }

  bool Spread(NodeShares& shares) const {
    // Of the emptiest nodes no more than the gang has members can be of use.
    for (int idle = most_; idle > 0 && static_cast<int>(shares.size()) < gang_; --idle) {
      for (int node = free_.rooms.Next(type_, idle, first_);
           node >= 0 && static_cast<int>(shares.size()) < gang_;
           node = free_.rooms.Next(type_, idle, node + 1)) {
        if (Room(node) > 0) shares.push_back({node, 0});
      }
    }
    const auto fuller = [this](const NodeShare& a, const NodeShare& b) {
      const int left_a = free_.rooms.Idle(a.node) - a.members;
      const int left_b = free_.rooms.Idle(b.node) - b.members;
      return left_a != left_b ? left_a < left_b : a.node > b.node;
    };
    NodeShares done;
    std::make_heap(shares.begin(), shares.end(), fuller);
    for (int left = gang_; left > 0; --left) {
      if (shares.empty()) return false;
      std::pop_heap(shares.begin(), shares.end(), fuller);
      if (++shares.back().members == Room(shares.back().node)) {
        done.push_back(shares.back());
        shares.pop_back();
      } else {
        std::push_heap(shares.begin(), shares.end(), fuller);
      }
    }
    shares.insert(shares.end(), done.begin(), done.end());
    std::erase_if(shares, [](const NodeShare& share) { return share.members == 0; });
    std::sort(shares.begin(), shares.end(),
              [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
    return true;
  }

  // The fewest nodes of [begin, end) that hold the gang: the emptiest first, and what is left of it on the
  // fullest that holds that. Returns how many members more those nodes would have had room for; -1 = none.
  int Fewest(int begin, int end, NodeShares& shares) const {
    shares.clear();
    int total = 0;
    for (int node = begin; node < end; ++node) {
      if (const int room = Room(node); room > 0) shares.push_back({node, room}), total += room;
    }
    if (total < gang_) return -1;
    std::sort(shares.begin(), shares.end(), [](const NodeShare& a, const NodeShare& b) {
      return a.members != b.members ? a.members > b.members : a.node < b.node;
    });
    int left = gang_;
    std::size_t used = 0;
    while (left > shares[used].members) left -= shares[used++].members;
    std::size_t last = used;  // by falling room: the last that holds what is left
    while (last + 1 < shares.size() && shares[last + 1].members >= left) ++last;
    while (last > used && shares[last - 1].members == shares[last].members) --last;
    const int rest = shares[last].members - left;
    shares[used] = {shares[last].node, left};
    shares.resize(used + 1);
    return rest;
  }

 private:
  int Room(int node) const { return free_.Room(node, demand_); }
  void Put(int node, int& left, NodeShares& shares) const {
    const int members = std::min(left, Room(node));
    if (members > 0) shares.push_back({node, members}), left -= members;
  }
  bool One(NodeShares& shares) const {
    const int node = Fullest(gang_, first_, last_);
    if (node >= 0) shares.push_back({node, gang_});
    return node >= 0;
  }

  const FreeNodes& free_;
  const ClusterLayout& layout_;
  int type_, gang_;
  const NodeDemand& demand_;
  int first_, last_;  // nodes of the type
  int most_;          // devices of its largest node
};

}  // namespace

void FreeNodes::Take(int node, int members, const NodeDemand& demand, bool devices) {
  if (devices) rooms.Add(node, -members);
  if (left.empty()) return;
  NodeCapacity& own = left[U(rooms.layout().host[U(node)])];
  for (std::size_t r = 0; r < demand.size(); ++r) own[r] -= members * demand[r];
}

bool ChooseNodes(PlacementRule rule, const FreeNodes& free, int type, int gang, const NodeDemand& demand,
                 std::vector<NodeShare>& shares) {
  shares.clear();
  if (free.rooms.IdleOfType(type) < gang) return false;
  const Chooser chooser(free, type, gang, demand);
  switch (rule) {
    case PlacementRule::kLowest:
      return chooser.Lowest(shares);
    case PlacementRule::kBestFit:
      return chooser.BestFit(shares);
    case PlacementRule::kConsolidate:
      return chooser.Consolidate(shares);
    case PlacementRule::kSpread:
      return chooser.Spread(shares);
  }
  return false;
}

bool ChooseNodes(NodeWay way, const FreeNodes& free, int type, int gang, const NodeDemand& demand,
                 std::vector<NodeShare>& shares) {
  shares.clear();
  if (free.rooms.IdleOfType(type) < gang) return false;
  const Chooser chooser(free, type, gang, demand);
  switch (way) {
    case NodeWay::kFullest:
      return chooser.Consolidate(shares);
    case NodeWay::kEmptiest:
      return chooser.Emptiest(shares);
    case NodeWay::kScraps:
      return chooser.Scraps(shares);
    case NodeWay::kRack:
      return chooser.RackWithMost(shares);
  }
  return false;
}

bool CanConsolidate(const FreeNodes& free, int type, int gang, const NodeDemand& demand) {
  if (free.rooms.IdleOfType(type) < gang) return false;
  const ClusterLayout& layout = free.rooms.layout();
  const Chooser chooser(free, type, gang, demand);
  const int first = layout.first_node[U(type)], last = layout.first_node[U(type) + 1];
  if (gang <= layout.gpus_per_node[U(type)]) return chooser.Fullest(gang, first, last) >= 0;
  NodeShares shares;
  return chooser.Fewest(first, last, shares) >= 0 &&
         static_cast<int>(shares.size()) == layout.FewestNodes(type, gang);
}

}  // namespace berth
