// The command `share` (env/features/sharing/share_action.cpp) by hand: on which GPU each rule takes a part, several
// on one GPU within one plan, who runs on where it is.
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

Scenario PartsOn(int gpus, const std::vector<int>& milli, const std::vector<double>& arrivals,
                 const std::string& features = "sharing") {
  std::vector<test::TinyJob> jobs;
  for (double arrival : arrivals) jobs.push_back({arrival, 99});
  ScenarioData data = test::TinyData({{"a", gpus}}, {{1.0}}, jobs);
  data.jobs.gpu_milli = milli;
  data.features = ParseFeatures(features);
  return Scenario(data);
}

MdpSpec Shares(bool preemptive) {
  MdpSpec mdp;
  mdp.actions = "start,share";
  mdp.preemptive = preemptive;
  mdp.on_change = false;
  return mdp;
}

// Of the job, on type 0 with the rule best (0), fgd (1), worst (2) or first (3).
int ShareOf(const DecisionPoint& point, int job, int way) {
  const CommandGrid& grid = *point.grid();
  for (int row = 0; row < grid.rows(); ++row) {
    for (int column = 0; column < grid.columns(); ++column) {
      if (grid.JobOf(row) == job && std::string(grid.NameOf(column)) == "share" && grid.column(column).level == way)
        return row * grid.columns() + column;
    }
  }
  return -1;
}

bool Offered(const DecisionPoint& point, int job, int way = 0) {
  return point.mask().bytes()[U(ShareOf(point, job, way))] != 0;
}

}  // namespace

TEST_CASE("share: each rule takes the GPU that its definition says") {
  // Three GPUs with 1000, 700 and 600 thousandths left; 300 are asked for, and a whole GPU waits too.
  const auto device = [](int way) {
    Simulator sim(PartsOn(3, {300, 400, 300, 1000}, {0, 0, 1, 1}));
    REQUIRE(sim.AdvanceToDecision());
    Decision decision;
    decision.Start(0, 0, std::vector<int>{1}), decision.Start(1, 0, std::vector<int>{2});
    REQUIRE(sim.Apply(decision).ok());
    DecisionPoint point(Shares(/*preemptive=*/false));
    point.Begin(sim.View(Knowledge::kOracle));
    REQUIRE(sim.AdvanceToDecision());
    const ClusterView view = sim.View(Knowledge::kOracle);
    test::OpenPoint(point, view);
    CHECK_FALSE(Offered(point, 3, way));  // whole GPUs are `start`
    point.Put(view, ShareOf(point, 2, way));
    decision.Clear();
    point.Close(view, decision);
    REQUIRE(sim.Apply(decision).ok());
    return sim.state().Devices(2).front();
  };
  CHECK(device(0) == 2);  // best fit: 600
  CHECK(device(2) == 0);  // worst fit: 1000
  CHECK(device(3) == 0);
  // Unusable by those in the system (two of 300, one of 400, one whole), before and after 300 are gone:
  // 1000: 0 and 700 / 4; 700: 700 / 4 and 400 / 4; 600: 600 / 4 and 300 / 2. Growth 175, -75 and 0.
  CHECK(device(1) == 1);
}

TEST_CASE("share: a plan has several parts on one GPU, and who runs stays") {
  Simulator sim(PartsOn(1, {400, 600, 500}, {0, 0, 0}));
  DecisionPoint point(Shares(/*preemptive=*/true));
  point.Begin(sim.View(Knowledge::kOracle));
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  for (const bool again : {false, true}) {
    const ClusterView view = sim.View(Knowledge::kOracle);
    test::OpenPoint(point, view);
    CHECK(Offered(point, 2));
    point.Put(view, ShareOf(point, 0, 0));
    CHECK(point.plan().room(0) == 0);
    CHECK(Offered(point, 1));
    CHECK(Offered(point, 2));
    point.Put(view, ShareOf(point, 1, 0));
    CHECK_FALSE(Offered(point, 2));
    decision.Clear();
    point.Close(view, decision);
    CHECK(decision.commands.size() == (again ? 0U : 2U));
    REQUIRE(sim.Apply(decision).ok());
  }
  CHECK(sim.state().Devices(0).front() == sim.state().Devices(1).front());
}

TEST_CASE("share: nodes that may lack cores are offered no parts") {
  for (const bool limited : {false, true}) {
    Simulator sim(PartsOn(2, {400, 600}, {0, 0}, limited ? "topology(cpus_per_node=8);sharing" : "topology;sharing"));
    DecisionPoint point(Shares(/*preemptive=*/true));
    point.Begin(sim.View(Knowledge::kOracle));
    REQUIRE(sim.AdvanceToDecision());
    test::OpenPoint(point, sim.View(Knowledge::kOracle));
    CHECK(Offered(point, 0) != limited);
  }
}

}  // namespace berth
