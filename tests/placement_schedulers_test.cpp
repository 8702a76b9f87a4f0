// Schedulers that mind where gangs are: waiting for room together, and moving together.
#include <algorithm>
#include <string>
#include <vector>

#include "baselines/placement/node_planner.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "env/features/topology/placement.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

// Nodes of two GPUs; a gang of two that is spread runs at half its speed (ring: 1 s more a step of 1 s).
ScenarioData Halved(const std::vector<test::TinyJob>& jobs, int gpus, const std::string& more = "") {
  ScenarioData data = test::TinyData({{"a", gpus}}, {{1.0}}, jobs);
  data.cluster.types[0].gpus_per_node = 2;
  data.throughputs.unconsolidated = {1.0, 0.5, 0.5};
  data.features = ParseFeatures("topology(placement=lowest" + more + ")");
  return data;
}

// Two nodes. Jobs 0 and 2 take one GPU of each (job 1 the other one of node 0 until 10 s): at 5 s the gang
// (job 3) finds one GPU on node 1 and, from 10 s, one on each node.
//   patience 0    at 10 s it starts spread: 10 + 100 / 0.5 = 210 s;
//   patience 600  it waits on; at 40 s job 2 ends and node 1 is its: 40 + 100 = 140 s; job 4, which came
//                 later, passes it at 10 s and ends at 15 s;
//   patience 20   first passed over at 10 s, so at 30 s it starts spread: 230 s.
TEST_CASE("delay_scheduling: a gang waits for a node, for so long and no longer") {
  const std::vector<test::TinyJob> jobs = {{0, 1000}, {0, 10}, {0, 40}, {5, 100, 0, 2}, {6, 5}};
  const Scenario scenario{Halved(jobs, 4)};
  CHECK(test::Ends("delay_scheduling(patience=0)", scenario) == std::vector<double>{1000, 10, 40, 210, 45});
  CHECK(test::Ends("delay_scheduling(patience=600)", scenario) == std::vector<double>{1000, 10, 40, 140, 15});
  CHECK(test::Ends("delay_scheduling(patience=20)", scenario) == std::vector<double>{1000, 10, 40, 230, 15});
  // Half its speed is enough for it: as without patience.
  CHECK(test::Ends("delay_scheduling(tolerate=0.5)", scenario) == std::vector<double>{1000, 10, 40, 210, 45});
}

TEST_CASE("delay_scheduling: without patience it is fcfs on a cluster that consolidates") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    ScenarioData data = test::RandomScenario(seed, 40, {}).data();
    for (GpuType& type : data.cluster.types) type.gpus_per_node = 2;
    data.throughputs.unconsolidated = data.throughputs.alone;
    data.features = ParseFeatures("topology(placement=consolidate)");
    const Scenario scenario{data};
    CHECK(test::RunOf("delay_scheduling(patience=0)", scenario).signature ==
          test::RunOf("fcfs", scenario).signature);
  }
}

// Two nodes; job 0 keeps one GPU of node 0 until 1000 s, job 1 one of node 1 until 20 s; the gang (job 2)
// starts spread at 0 with 100 steps. At 20 s it has done 10, and 90 are left: 180 s here, 90 s together. A
// move costs 3 x cost s: at cost 10 it ends at 20 + 30 + 90 = 140 s; at cost 40 staying (200 s) is better.
TEST_CASE("defragment: a gang moves together exactly where that ends it sooner") {
  for (const double cost : {0.0, 10.0, 29.0, 31.0, 40.0}) {
    CAPTURE(cost);
    ScenarioData data = Halved({{0, 1000}, {0, 20}, {0, 100, 0, 2}}, 4);
    data.features = ParseFeatures("topology(placement=spread)");
    data.costs = {cost, cost, cost};
    const Scenario scenario{data};
    const double stays = test::Ends("fcfs", scenario)[2], moves = 20 + 3 * cost + 90;
    CHECK(stays == 200.0);
    CHECK(test::Ends("defragment", scenario) == std::vector<double>{1000, 20, std::min(stays, moves)});
    // margin 2: what it saves (90 s) must be twice its cost (3 x cost).
    CHECK(test::Ends("defragment(margin=2)", scenario)[2] == (90 >= 6 * cost ? moves : stays));
  }
}

// The same with feature checkpoints, where a move saves and loads `gb` GB at 1 GB/s and costs nothing else.
TEST_CASE("defragment: a move costs what the feature checkpoints says") {
  for (const double gb : {10.0, 44.0, 46.0, 400.0}) {
    CAPTURE(gb);
    ScenarioData data = Halved({{0, 1000}, {0, 20}, {0, 100, 0, 2}}, 4);
    data.features = ParseFeatures(Join("topology(placement=spread);checkpoints(gb=", gb, ")"));
    const double stays = 200.0, moves = 20 + 2 * gb + 90;
    CHECK(test::Ends("defragment", Scenario{data}) == std::vector<double>{1000, 20, std::min(stays, moves)});
  }
}

TEST_CASE("defragment: without the feature it is the scheduler inside") {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Scenario scenario = test::RandomScenario(seed, 40, {});
    CHECK(test::RunOf("defragment(inner=srpt)", scenario).signature ==
          test::RunOf("srpt", scenario).signature);
  }
}

TEST_CASE("placement schedulers get through random clusters with limits and failures") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    ScenarioData data =
        test::RandomScenario(seed, 40, seed % 2 == 0 ? Clock{} : Clock{ClockKind::kRounds, 60.0}).data();
    for (GpuType& type : data.cluster.types) type.gpus_per_node = 2;
    for (int gang : data.jobs.gang) data.jobs.demand.push_back(gang == 1 ? 4.0 : 2.0);  // of 5 cores a node
    data.features =
        ParseFeatures("topology(placement=best_fit,cpus_per_node=5);failures(mtbf_h=5,repair_h=0.02)");
    const Scenario scenario{data};
    for (const char* spec :
         {"delay_scheduling", "delay_scheduling(patience=60,overtake=true)", "defragment",
          "defragment(inner=srpt)", "fcfs", "easy", "srpt", "tiresias", "conservative", "least_loaded",
          "power_of_two", "shortest_queue", "gavel", "gavel(packed=true)", "gandiva", "milp"}) {
      CAPTURE(seed, spec);
      CHECK(test::RunOf(spec, scenario).metrics.unfinished == 0);
    }
  }
}

}  // namespace
}  // namespace berth
