// The command `place` (env/features/topology/place_action.cpp) by hand: which nodes each rule takes, that the next
// choice sees what the last one took, and what choosing gains.
#include <map>
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/gym/decision_point.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/command_points.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

enum PlaceWay : int { kOnFullest, kOnEmptiest, kOnScraps, kInRack };

MdpSpec ProcessOf(const std::string& actions, bool preemptive) {
  MdpSpec mdp;
  mdp.actions = actions;
  mdp.preemptive = preemptive;
  mdp.on_change = false;
  return mdp;
}

// The channels of `place` of a command, which are the last.
std::vector<float> Shown(const DecisionPoint& point, int action) {
  const ObservationLayout& layout = point.layout();
  const auto cell = point.observation().subspan(U(layout.pairs_offset() + action * layout.pair_channels),
                                                U(layout.pair_channels));
  return {cell.end() - 6, cell.end()};
}

// Four nodes of four GPUs, two racks of two nodes. Idle: 3 of node 0, 1 of node 1, all of node 2, 3 of node 3.
Simulator PartlyIdle() {
  ScenarioData data = test::TinyData(
      {{"a", 16}}, {{1.0}},
      {{0, 9999, 0, 1}, {0, 9999, 0, 2}, {0, 9999, 0, 1}, {0, 9999, 0, 1}, {1, 99, 0, 2}, {1, 99, 0, 2}});
  data.cluster.types[0].gpus_per_node = 4;
  data.features = ParseFeatures("topology(nodes_per_rack=2,network_gb_s=0.125,rack_gb_s=0.125)");
  Simulator sim{Scenario(std::move(data))};
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0, std::vector<int>{0}), decision.Start(1, 0, std::vector<int>{4, 5});
  decision.Start(2, 0, std::vector<int>{6}), decision.Start(3, 0, std::vector<int>{12});
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  return sim;
}

std::vector<int> DevicesOf(const Simulator& sim, int job) {
  const auto devices = sim.state().Devices(job);
  return {devices.begin(), devices.end()};
}

}  // namespace

TEST_CASE("place: each rule takes the nodes that its definition says, and the next choice sees it") {
  const auto placed = [](bool preemptive, int first, int second) {
    Simulator sim = PartlyIdle();
    DecisionPoint point(ProcessOf("start,place", preemptive));
    const ClusterView view = sim.View(Knowledge::kOracle);
    point.Begin(view);
    test::OpenPoint(point, view);
    for (int job = 0; preemptive && job < 4; ++job) {  // who runs there has no place to come to
      CHECK(point.mask().bytes()[U(test::CommandAt(point, "place", job, kOnFullest))] == 0);
      point.Put(view, test::CommandAt(point, "start", job, -1));
    }
    for (const auto& [job, way] : {std::pair(4, first), std::pair(5, second)}) {
      const int action = test::CommandAt(point, "place", job, way);
      CHECK(point.mask().bytes()[U(action)] == 1);
      point.Put(view, action);
      CHECK(point.mask().bytes()[U(action)] == 0);
    }
    Decision decision;
    point.Close(view, decision);
    const ApplyResult result = sim.Apply(decision);
    INFO(Explain(result, decision, sim));
    REQUIRE(result.ok());
    return std::pair(DevicesOf(sim, 4), DevicesOf(sim, 5));
  };
  using Two = std::vector<int>;
  for (const bool preemptive : {false, true}) {
    CHECK(placed(preemptive, kOnFullest, kOnFullest) == std::pair(Two{1, 2}, Two{13, 14}));  // 3 left each
    CHECK(placed(preemptive, kOnEmptiest, kOnEmptiest) == std::pair(Two{8, 9}, Two{1, 2}));  // then 2 on node 2
    CHECK(placed(preemptive, kOnScraps, kOnScraps) == std::pair(Two{7, 1}, Two{2, 3}));      // then 2 on node 0
    CHECK(placed(preemptive, kInRack, kOnFullest) == std::pair(Two{13, 14}, Two{1, 2}));     // 7 of rack 1
  }
}

TEST_CASE("place: what is shown is what is taken") {
  Simulator sim = PartlyIdle();
  DecisionPoint point(ProcessOf("start,place", /*preemptive=*/false));
  const ClusterView view = sim.View(Knowledge::kOracle);
  point.Begin(view);
  test::OpenPoint(point, view);
  // There, of as few nodes as can be, speed, racks, GPUs left on its nodes, nodes opened.
  CHECK(Shown(point, test::CommandAt(point, "place", 4, kOnEmptiest)) == std::vector<float>{1, 1, 1, 1, 0.5F, 1});
  const std::vector<float> scraps = Shown(point, test::CommandAt(point, "place", 4, kOnScraps));
  CHECK(scraps[1] == 0.5F);
  CHECK((scraps[2] > 0.0F && scraps[2] < 0.95F));
  CHECK(scraps[4] == 0.25F);  // 2 of 8
  CHECK(scraps[5] == 0.0F);
  CHECK(Shown(point, test::CommandAt(point, "start", 4, -1)) == std::vector<float>(6, 0.0F));
}

// Two nodes of two. 0 (1,000 s), 1 (10 s) at 0 and 2 (1,000 s) at 1 take a GPU each; 3 (two GPUs) comes at 20,
// when 1 is gone. On the fullest nodes the long ones part the cluster, and 3 is spread; with the short one
// by itself 2 joins 0, and 3 has a node: 20 + 100.
TEST_CASE("place: who chooses where leaves a node for the gang that is to come") {
  const auto end_of_gang = [](const std::string& name, int alone) {
    ScenarioData data =
        test::TinyData({{"a", 4}}, {{1.0}}, {{0, 1000}, {0, 10}, {1, 1000}, {20, 100, 0, 2}});
    data.cluster.types[0].gpus_per_node = 2;
    data.features = ParseFeatures("topology(network_gb_s=0.125,rack_gb_s=0.125)");
    Simulator sim{Scenario(std::move(data))};
    DecisionPoint point(ProcessOf("start,gather,place", /*preemptive=*/false));
    point.Begin(sim.View(Knowledge::kOracle));
    Decision decision;
    while (sim.AdvanceToDecision()) {
      const ClusterView view = sim.View(Knowledge::kOracle);
      test::OpenPoint(point, view);
      for (int job : view.waiting()) {
        const bool place = name == "place";
        point.Put(view, test::CommandAt(point, name, job, place && job == 1 ? alone : 0));
      }
      decision.Clear();
      point.Close(view, decision);
      REQUIRE(sim.Apply(decision).ok());
    }
    return sim.state().completion[3];
  };
  CHECK(end_of_gang("place", kOnEmptiest) == 120.0);
  CHECK(end_of_gang("gather", 0) > 121.0);
  CHECK(end_of_gang("place", kOnFullest) == end_of_gang("gather", 0));
}

}  // namespace berth
