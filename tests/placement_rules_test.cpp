// On which nodes gangs go: by hand, and against exhaustive search on random clusters.
#include "env/features/topology/placement_rules.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/sim/scenario.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

// One type of nodes with `size` devices, of which so many are idle.
FreeNodes Nodes(int size, const std::vector<int>& idle, int nodes_per_rack = 0) {
  GpuType type;
  type.count = size * static_cast<int>(idle.size());
  type.gpus_per_node = size;
  FreeNodes free{NodeRooms(std::make_shared<ClusterLayout>(MakeLayout({&type, 1}, nodes_per_rack))), {}};
  for (std::size_t node = 0; node < idle.size(); ++node) free.rooms.Add(static_cast<int>(node), idle[node]);
  return free;
}

// "0:1 2:3": one member on node 0, three on node 2; "" = does not fit.
std::string Chosen(PlacementRule rule, const FreeNodes& free, int gang, const NodeDemand& demand = {}) {
  std::vector<NodeShare> shares;
  if (!ChooseNodes(rule, free, 0, gang, demand, shares)) return "";
  std::string text;
  for (const NodeShare& share : shares) text += Join(text.empty() ? "" : " ", share.node, ":", share.members);
  return text;
}

TEST_CASE("placement: each rule on nodes with 1, 2, 3 and 4 idle devices") {
  const FreeNodes free = Nodes(4, {1, 2, 3, 4});
  using enum PlacementRule;
  CHECK(Chosen(kLowest, free, 5) == "0:1 1:2 2:2");
  CHECK(Chosen(kBestFit, free, 2) == "1:2");  // exactly full
  CHECK(Chosen(kBestFit, free, 3) == "2:3");
  CHECK(Chosen(kBestFit, free, 5) == "0:1 1:2 2:2");      // no node holds it: fullest first
  CHECK(Chosen(kConsolidate, free, 3) == "2:3");          // one node: the fullest that does
  CHECK(Chosen(kConsolidate, free, 5) == "3:4 0:1");      // two nodes, the rest where it fits best
  CHECK(Chosen(kConsolidate, free, 6) == "3:4 1:2");      // 4 + 2
  CHECK(Chosen(kConsolidate, free, 8) == "3:4 2:3 0:1");  // 4 + 3 + 1
  // The emptiest each time: node 3 (4 -> 3), node 2 (tied at 3, lower), node 3 (3 -> 2).
  CHECK(Chosen(kSpread, free, 3) == "2:1 3:2");
  CHECK(Chosen(kSpread, free, 10) == "0:1 1:2 2:3 3:4");
  for (const PlacementRule rule : {kLowest, kBestFit, kConsolidate, kSpread})
    CHECK(Chosen(rule, free, 11) == "");
}

TEST_CASE("placement: a gang too large for a node stays in one rack if that takes no more nodes") {
  // Racks {0, 1} and {2, 3}; gang 6 needs two nodes. The emptiest two (0 and 2) are in different racks, and
  // rack {2, 3} holds it in 4 + 2.
  CHECK(Chosen(PlacementRule::kConsolidate, Nodes(4, {4, 1, 4, 2}, 2), 6) == "2:4 3:2");
  // No rack has six: 4 + 2 of two racks.
  CHECK(Chosen(PlacementRule::kConsolidate, Nodes(4, {4, 1, 1, 2}, 2), 6) == "0:4 3:2");
  // One rack would take three nodes: two of different racks are fewer.
  CHECK(Chosen(PlacementRule::kConsolidate, Nodes(4, {4, 0, 0, 2, 2, 2}, 3), 6) == "0:4 3:2");
}

TEST_CASE("placement: the nodes' resources limit how many members they take") {
  FreeNodes free = Nodes(4, {4, 4});
  free.left = {{3000, kNoLimit, kNoLimit}, {8000, kNoLimit, kNoLimit}};  // cores: 3 and 8
  const NodeDemand two_cores = {2000, 0, 0};  // node 0 takes one member, node 1 four
  CHECK(Chosen(PlacementRule::kLowest, free, 3, two_cores) == "0:1 1:2");
  CHECK(Chosen(PlacementRule::kBestFit, free, 1, two_cores) == "0:1");
  CHECK(Chosen(PlacementRule::kBestFit, free, 2, two_cores) == "1:2");
  CHECK(Chosen(PlacementRule::kConsolidate, free, 5, two_cores) == "1:4 0:1");
  CHECK(Chosen(PlacementRule::kSpread, free, 5, two_cores) == "0:1 1:4");
  CHECK(Chosen(PlacementRule::kSpread, free, 6, two_cores) == "");  // devices for 8, cores for 5
  CHECK_FALSE(CanConsolidate(free, 0, 5, {4000, 0, 0}));            // 0 + 2 members
  CHECK(CanConsolidate(free, 0, 5, two_cores));
}

// The least number of nodes that hold the gang, by all subsets; and whether nodes of one rack do.
std::pair<int, bool> FewestBySearch(const FreeNodes& free, int gang, const NodeDemand& demand) {
  const ClusterLayout& layout = free.rooms.layout();
  int fewest = 1000;
  bool one_rack = false;
  for (unsigned set = 1; set < (1u << layout.num_nodes()); ++set) {
    int room = 0, racks = 0;
    for (int node = 0; node < layout.num_nodes(); ++node) {
      if ((set >> node & 1) == 0) continue;
      room += free.Room(node, demand);
      racks |= 1 << layout.rack_of[U(node)];
    }
    if (room < gang) continue;
    const int nodes = std::popcount(set);
    const bool one = std::popcount(static_cast<unsigned>(racks)) == 1;
    if (nodes < fewest) fewest = nodes, one_rack = one;
    if (nodes == fewest) one_rack = one_rack || one;
  }
  return {fewest, one_rack};
}

TEST_CASE("placement: against exhaustive search on random nodes") {
  Stream stream(3, Purpose::kTest);
  int spanning = 0, refused = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const int size = 1 + static_cast<int>(stream.Below(5));
    std::vector<int> idle;
    for (int n = 0; n < 7; ++n) idle.push_back(static_cast<int>(stream.Below(U(size + 1) & 0xff)));
    FreeNodes free = Nodes(size, idle, static_cast<int>(stream.Below(4)));
    const NodeDemand demand = {1000, 0, 0};
    const bool limited = stream.Below(2) == 0;
    for (int n = 0; limited && n < 7; ++n)
      free.left.push_back({1000 * static_cast<std::int64_t>(stream.Below(7)), kNoLimit, kNoLimit});
    int total = 0;
    for (int n = 0; n < 7; ++n) total += free.Room(n, demand);
    const int gang = 1 + static_cast<int>(stream.Below(12));
    CAPTURE(trial, gang, total);
    for (const PlacementRule rule : {PlacementRule::kLowest, PlacementRule::kBestFit,
                                     PlacementRule::kConsolidate, PlacementRule::kSpread}) {
      std::vector<NodeShare> shares;
      const bool placed = ChooseNodes(rule, free, 0, gang, demand, shares);
      REQUIRE(placed == (gang <= total));
      if (!placed) {
        ++refused;
        continue;
      }
      std::vector<int> on(7, 0);
      for (const NodeShare& share : shares) on[U(share.node)] += share.members;
      REQUIRE(std::accumulate(on.begin(), on.end(), 0) == gang);
      for (int n = 0; n < 7; ++n) REQUIRE(on[U(n)] <= free.Room(n, demand));
      const auto [fewest, one_rack] = FewestBySearch(free, gang, demand);
      if (rule == PlacementRule::kConsolidate) {
        REQUIRE(static_cast<int>(shares.size()) == fewest);
        int racks = 0;
        for (const NodeShare& s : shares) racks |= 1 << free.rooms.layout().rack_of[U(s.node)];
        REQUIRE((std::popcount(static_cast<unsigned>(racks)) == 1) == one_rack);
        REQUIRE(CanConsolidate(free, 0, gang, demand) ==
                (fewest == free.rooms.layout().FewestNodes(0, gang)));
        spanning += fewest > 1;
      }
      if (fewest == 1 && (rule == PlacementRule::kBestFit || rule == PlacementRule::kConsolidate)) {
        int fullest = 1000;
        for (int n = 0; n < 7; ++n) {
          if (free.Room(n, demand) >= gang) fullest = std::min(fullest, free.rooms.Idle(n));
        }
        REQUIRE(free.rooms.Idle(shares.front().node) == fullest);
      }
      if (rule == PlacementRule::kSpread) {  // the emptiest with room, again and again
        std::vector<int> by_hand(7, 0);
        for (int k = 0; k < gang; ++k) {
          int emptiest = -1;
          for (int n = 0; n < 7; ++n) {
            if (by_hand[U(n)] == free.Room(n, demand)) continue;
            if (emptiest < 0 ||
                free.rooms.Idle(n) - by_hand[U(n)] > free.rooms.Idle(emptiest) - by_hand[U(emptiest)])
              emptiest = n;
          }
          ++by_hand[U(emptiest)];
        }
        REQUIRE(on == by_hand);
      }
    }
  }
  CHECK(spanning > 50);
  CHECK(refused > 100);
}

TEST_CASE("placement: rooms of nodes are counted as they change") {
  FreeNodes free = Nodes(4, {4, 4, 1, 0, 3});
  CHECK(free.rooms.IdleOfType(0) == 12);
  CHECK(free.rooms.IdleBelow(0, 4) == 4);  // 1 and 3
  CHECK(free.rooms.IdleBelow(0, 99) == 12);
  CHECK(free.rooms.NodesWith(0, 4) == 2);
  CHECK(free.rooms.Next(0, 4, 0) == 0);
  CHECK(free.rooms.Next(0, 4, 1) == 1);
  CHECK(free.rooms.Next(0, 4, 2) == -1);
  free.rooms.Add(0, -3);
  CHECK(free.rooms.Next(0, 1, 0) == 0);
  CHECK(free.rooms.Next(0, 1, 1) == 2);
  CHECK(free.rooms.IdleOfType(0) == 9);
}

}  // namespace
}  // namespace berth
