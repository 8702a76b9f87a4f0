// GPUs behind devices: what fails, and whose cores a job takes, where GPUs are in slices. By hand.
#include "env/sim/physical_gpus.hpp"

#include "env/features/failures/failures.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/table.hpp"
#include "env/features/topology/placement.hpp"
#include "env/sim/invariants.hpp"
#include "tests/a100s.hpp"

namespace berth {
namespace {

using test::A100s;
using test::ErrorOf;
using test::Finish;
using test::Says;

}  // namespace

TEST_CASE("physical GPUs: without slices they are the devices, with slices each has its own") {
  ScenarioData data = A100s(3, {{0, 10}}, {1.0}, "");
  data.cluster.types[0].gpus_per_node = 2;
  PhysicalGpus gpus = MakePhysicalGpus(Scenario(data).data());
  CHECK(gpus.count() == 3);
  CHECK(gpus.devices == std::vector<int>{0, 1, 2});
  CHECK(gpus.node == std::vector<int>{0, 0, 1});
  // Beside each GPU 7 + 4 + 3 + 2 + 1 places of instances.
  data.features = ParseFeatures("partitions(layout=3g.40gb+3g.40gb)");
  const Scenario scenario(data);
  gpus = MakePhysicalGpus(scenario.data());
  CHECK(gpus.count() == 3);
  CHECK(scenario.num_nodes() == 2);
  for (int gpu = 0; gpu < 3; ++gpu) {
    CHECK(gpus.Devices(gpu).size() == 18);
    CHECK(gpus.Whole(gpu) == gpu);
    for (int d : gpus.Devices(gpu)) {
      CHECK(gpus.gpu_of[U(d)] == gpu);
      CHECK(scenario.NodeOf(d) == gpu / 2);
    }
  }
  double parts = 0.0;
  for (const TypePart& part : gpus.parts) parts += part.fraction();
  CHECK(parts == Approx(1.0 + (1 + 1 + 2 + 3 + 4) / 7.0));
}

// Two GPUs of one node each, both in halves; four jobs that can use 0.4 < 3/7 of a GPU, so at 1 step/s. GPU 0
// is out over [100, 150): its two jobs lose 100 steps. The halves of GPU 1 are held until 200, those of GPU 0
// are back at 150, where both start again and end at 350.
TEST_CASE("failures of a GPU in slices take all of its slices, and nothing else") {
  for (const char* outage : {"100:150:gpu:a100/0", "100:150:node:a100/0", "100:150:node:a100/0:40"}) {
    CAPTURE(outage);
    const ScenarioData data =
        A100s(2, {{0, 200}, {0, 200}, {0, 200}, {0, 200}}, {0.4},
              Join("partitions(layout=3g.40gb+3g.40gb);failures(mtbf_h=0,events=", outage, ")"));
    const Simulator sim = Finish(data);
    CHECK(sim.state().completion == std::vector<double>{350, 350, 200, 200});
    CHECK(sim.state().interruptions == std::vector<int>{1, 1, 0, 0});
  }
  // Slices have no names of their own, nor do they spot.
  const auto error = [](const std::string& failures) {
    return ErrorOf(A100s(2, {{0, 200}}, {0.4}, Join("partitions;failures(mtbf_h=0,", failures, ")")));
  };
  CHECK(Says(error("events=1:2:gpu:a100.3g.40gb/0"), "is a slice: expected its GPU, a100/NUMBER"));
  CHECK(Says(error("events=1:2:gpu:a100/2"), "a100 has a100/0 to a100/1"));
  CHECK(Says(error("spot_types=a100.3g.40gb"), "unknown GPU type 'a100.3g.40gb'"));
}

TEST_CASE("failures: whatever fails, all devices of a GPU are down together") {
  ScenarioData data =
      A100s(4, {{0, 2e6}}, {0.4},
            "partitions(layout=2g.20gb+1g.10gb);failures(mtbf_h=30,node_mtbf_h=50,rack_mtbf_h="
            "100,spot_types=a100,spot_mtbf_h=40,repair_h=2);checkpoints(interval=1000)");
  data.cluster.types[0].gpus_per_node = 2;
  Simulator sim{Scenario(data)};
  const PhysicalGpus gpus = MakePhysicalGpus(sim.scenario().data());
  int outages = 0;
  double rate = 0.0;
  while (sim.AdvanceToDecision()) {
    for (int gpu = 0; gpu < gpus.count(); ++gpu) {
      const auto bits = [&](int d) { return sim.state().out_of_service[U(d)] & (kFailed | kDraining); };
      for (int d : gpus.Devices(gpu)) REQUIRE(bits(d) == bits(gpus.Whole(gpu)));
      outages += bits(gpus.Whole(gpu)) != 0;
    }
    Decision decision;
    const int slice = 3;  // 2g.20gb
    REQUIRE(sim.scenario().data().cluster.types[slice].name == "a100.2g.20gb");
    if (!sim.state().waiting.empty() && sim.state().free_gpus[slice] > 0) decision.Start(0, slice);
    REQUIRE(sim.Apply(decision).ok());
    REQUIRE(CheckInvariants(sim) == "");
    // Of one GPU, one node, one spot node, and the one rack of 8 nodes, of which this type has two.
    if (!sim.state().running.empty())
      rate = sim.state().features.Find<FailureState>()->FailuresPerSecond(sim.state(), 0);
  }
  CHECK(outages > 20);
  CHECK(rate * 3600.0 == Approx(1.0 / 30 + 1.0 / 50 + 1.0 / 100 + 1.0 / 40));
}

// Four nodes of one GPU, two a rack as the topology says; the second rack is out over [100, 150). Jobs on
// GPUs 2 and 3 lose 100 steps and have GPUs 0 and 1 from 120 on.
TEST_CASE("failures: racks are the topology's") {
  const auto with = [](const std::string& features) {
    ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 120}, {0, 120}, {0, 120}, {0, 120}});
    data.features = ParseFeatures(features);
    return data;
  };
  const Simulator sim =
      Finish(with("topology(nodes_per_rack=2);failures(mtbf_h=0,events=100:150:rack:v100/1)"));
  CHECK(sim.state().completion == std::vector<double>{120, 120, 240, 240});
  CHECK(Says(ErrorOf(with("topology(nodes_per_rack=2);failures(nodes_per_rack=4)")),
             "expected 2 as the feature topology says (or 0 for that), found 4"));
  CHECK(ErrorOf(with("topology(nodes_per_rack=2);failures(nodes_per_rack=2)")) == "");
  CHECK(ErrorOf(with("topology;failures(nodes_per_rack=4)")) == "");
}

// A node of two GPUs and 7 cores; every job needs 3. GPU 0 is in halves, GPU 1 whole: a third job finds no
// cores, whichever device it would have, and runs from 100 to 200. The list of cores has an entry a GPU type,
// slices not counted.
TEST_CASE("topology: GPUs and slices of a node share its cores") {
  ScenarioData data = A100s(2, {{0, 100}, {0, 100}, {1, 100}}, {0.4}, "");
  data.cluster.types[0].gpus_per_node = 2;
  data.cluster.types.push_back({"cpu", 1, 1});
  data.throughputs.alone = {1.0, 0.0, 1.0, 0.0, 1.0, 0.0};
  data.features = ParseFeatures("partitions;topology(cpus_per_node=7:1,cpus_per_gpu=3)");
  Simulator sim{Scenario(data)};
  const int half = 5;
  REQUIRE(sim.scenario().data().cluster.types[half].name == "a100.3g.40gb");
  int layout = 0;
  REQUIRE(sim.AdvanceToDecision());
  const PartitionGroup& group = sim.state().features.Find<PartitionState>()->groups[0];
  while (ToString(*group.product, group.layouts[U(layout)]) != "3g.40gb@0+3g.40gb@4") ++layout;
  Decision decision;
  decision.controls.push_back({kPartitionControl, 0, double(layout)});
  decision.Start(0, 0, std::vector<int>{1});
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());  // 1 s: job 2; at 5 s the halves are there
  REQUIRE(sim.Apply({}).ok());
  REQUIRE(sim.AdvanceToDecision());
  REQUIRE(sim.now() == 5.0);
  const int first = sim.scenario().first_device(half);
  decision.Clear();
  decision.Start(1, half, std::vector<int>{first}), decision.Start(2, half, std::vector<int>{first + 1});
  CHECK(sim.Apply(decision).rule == Rule::kNodeResources);
  decision.Clear();
  decision.Start(1, half), decision.Start(2, half);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(CheckInvariants(sim) == "");
  CHECK(sim.state().features.Find<PlacementState>()->unplaced_orders == 1);
  CHECK(sim.state().running.size() == 2);
  REQUIRE(sim.AdvanceToDecision());
  CHECK(sim.now() == 100.0);
  decision.Clear();
  decision.Start(2, half);
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().features.Find<PlacementState>()->unplaced_orders == 1);
  CHECK(Says(ErrorOf([&] {
               data.features = ParseFeatures("partitions;topology(cpus_per_node=7:1:1)");
               return data;
             }()),
             "one for each of 2 GPU types, found 3"));
}

}  // namespace berth
