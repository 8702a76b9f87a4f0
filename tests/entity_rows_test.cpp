// Rows of an observation that are not jobs: nodes, shared devices, tenants, jobs held back; by hand, each with its
// cap and its tail.
#include <cmath>
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/gym/vec_env.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/seen_rows.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::SeenRows;
using test::WithEntities;

double Minutes(double seconds) {
  return std::log(1.0 + seconds / 60.0) / 10.0;
}

// Four nodes of two GPUs; at 600 s job 0 runs on GPU 0, job 1 on GPUs 1 to 4, and 2 arrives.
Simulator OnNodes(const std::string& features) {
  ScenarioData data = test::TinyData({{"v", 8}}, {{1.0}}, {{0, 3600}, {0, 7200, 0, 4}, {600, 60}});
  data.cluster.types[0].gpus_per_node = 2;
  data.cluster.types[0].idle_power_w = 50, data.cluster.types[0].peak_power_w = 250;
  data.features = ParseFeatures(features);
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0), decision.Start(1, 0);
  REQUIRE(simulator.Apply(decision).ok());
  while (simulator.now() < 600.0) {
    REQUIRE(simulator.AdvanceToDecision());
    if (simulator.now() < 600.0) REQUIRE(simulator.Apply(Decision()).ok());
  }
  return simulator;
}

}  // namespace

TEST_CASE("entities: nodes by hand, partly idle ones first, full ones in the row of all others") {
  Simulator simulator = OnNodes("");
  const double left0 = simulator.View(Knowledge::kOracle).RemainingSeconds(0, 0),
               left1 = simulator.View(Knowledge::kOracle).RemainingSeconds(1, 0);
  const SeenRows seen(simulator, WithEntities("queue:1+nodes:1(most=2)"));
  REQUIRE(seen.rows() == 3 + 3);
  for (int job = 0; job < 3; ++job) CHECK((seen.At(job, "present") == 1.0F && seen.At(job, "node") == 0.0F));
  // Node 2: GPU 4 is job 1's, which is on three nodes; 5 is idle, of three idle ones of eight.
  CHECK((seen.At(3, "present") == 1.0F && seen.At(3, "node") == 1.0F && seen.At(3, "gang") == 0.0F));
  CHECK(seen.At(3, "nodes") == 0.0F);
  CHECK(seen.At(3, "size") == Approx(std::log2(3.0) / 5.0));
  CHECK(seen.At(3, "speed") == 1.0F);
  CHECK((seen.At(3, "idle") == 0.5F && seen.At(3, "whole") == 0.0F && seen.At(3, "missing") == 0.0F));
  CHECK(seen.At(3, "rack_idle") == Approx(3.0 / 8.0));
  CHECK(seen.At(3, "jobs") == Approx(std::log(2.0) / 3.0));
  CHECK(seen.At(3, "spread") == 0.5F);
  CHECK(seen.At(3, "first_end") == Approx(Minutes(left1)));
  CHECK((seen.At(3, "slowed") == 0.0F && seen.At(3, "watts") == 0.0F && seen.At(3, "heat") == 0.0F));
  // Node 3 is idle.
  CHECK((seen.At(4, "idle") == 1.0F && seen.At(4, "whole") == 1.0F && seen.At(4, "jobs") == 0.0F));
  CHECK(seen.At(4, "first_end") == 0.0F);
  // Nodes 0, with both jobs, and 1 share the last row.
  CHECK((seen.At(5, "present") == 1.0F && seen.At(5, "node") == 1.0F));
  CHECK(seen.At(5, "nodes") == Approx(std::log2(2.0) / 10.0));
  CHECK(seen.At(5, "idle") == 0.0F);
  CHECK(seen.At(5, "jobs") == Approx((std::log(3.0) + std::log(2.0)) / 2.0 / 3.0));
  CHECK(seen.At(5, "spread") == Approx((0.5 + 1.0) / 2.0));
  CHECK(seen.At(5, "first_end") == Approx((Minutes(std::min(left0, left1)) + Minutes(left1)) / 2.0));
  // With room for all of them there are no others.
  const SeenRows all(simulator, WithEntities("queue:1+nodes:1(most=4)"));
  CHECK(all.Absent(3 + 4));
  CHECK(all.At(3 + 3, "nodes") == 0.0F);
}

TEST_CASE("entities: what features say of nodes: racks, notice, watts") {
  // Node 3 is announced to leave at 900 s and is to be told of from 500 s on.
  Simulator simulator = OnNodes(
      "topology(nodes_per_rack=2,network_gb_s=1.25);failures(mtbf_h=0,events=900:1000:node:v/3:400);power");
  const SeenRows seen(simulator, WithEntities("queue:1+nodes:1(most=4)"));
  // Partly idle: node 2; then full ones; and node 3, where nobody may start, last.
  CHECK((seen.At(3, "idle") == 0.5F && seen.At(3, "leaves") == 0.0F && seen.At(3, "notice") == 0.0F));
  CHECK(seen.At(3, "rack_idle") == Approx(0.5));  // of two GPUs in service
  CHECK(seen.At(3, "network") == Approx(std::log(2.25) / 5.0));
  CHECK(seen.At(3, "watts") == Approx((250.0 + 50.0) / 500.0));
  CHECK((seen.At(6, "missing") == 1.0F && seen.At(6, "leaves") == 1.0F));
  CHECK(seen.At(6, "notice") == Approx(Minutes(300.0)));
}

TEST_CASE("entities: a rack has nodes of one type alone, as the simulator's") {
  // Nodes of one GPU, two a rack: racks {0, 1} and {2} of v, {3, 4} of k. Job 0 runs on node 2.
  ScenarioData data = test::TinyData({{"v", 3}, {"k", 2}}, {{1.0, 1.0}}, {{0, 3600}, {600, 60}});
  data.features = ParseFeatures("topology(nodes_per_rack=2)");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  const std::vector<int> on = {2};
  decision.Start(0, 0, on);
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  const SeenRows seen(simulator, WithEntities("queue:1+nodes:1(most=8)"));
  // Idle ones by number, then node 2.
  for (int row = 2; row < 6; ++row) CHECK((seen.At(row, "idle") == 1.0F && seen.At(row, "rack_idle") == 1.0F));
  CHECK((seen.At(6, "idle") == 0.0F && seen.At(6, "rack_idle") == 0.0F));
}

TEST_CASE("entities: parts of devices by hand, the most free first") {
  ScenarioData data = test::TinyData({{"v", 3}}, {{1.0}}, {{0, 600}, {0, 900}, {0, 1200}, {10, 60}});
  data.jobs.gpu_milli = {300, 400, 200, 500};
  data.features = ParseFeatures("sharing");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  const std::vector<int> first = {0}, second = {1};
  decision.Start(0, 0, first), decision.Start(1, 0, first), decision.Start(2, 0, second);
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  const SeenRows seen(simulator, WithEntities("queue:1+devices:1(most=1)"));
  REQUIRE(seen.rows() == 4 + 2);
  CHECK((seen.At(4, "device") == 1.0F && seen.At(4, "free") == Approx(0.8)));  // GPU 1
  CHECK(seen.At(4, "holders") == Approx(std::log(2.0) / 3.0));
  CHECK((seen.At(5, "device") == 1.0F && seen.At(5, "free") == Approx(0.3)));  // GPU 0, alone in the tail
  CHECK(seen.At(5, "devices") == 0.0F);
  CHECK(seen.At(5, "holders") == Approx(std::log(3.0) / 3.0));
}

TEST_CASE("entities: tenants by hand, and what a job's tenant is due") {
  // Eight GPUs. Tenant 0 of weight 3 holds four and wants two, tenant 1 wants eight and so comes first, 2 has none.
  ScenarioData data = test::TinyData({{"v", 8}}, {{1.0}}, {{0, 7200, 0, 4}, {0, 3600, 0, 2}, {0, 60, 0, 4}, {0, 60, 0, 4}, {600, 1}});
  data.jobs.tenant = {0, 0, 1, 1, 2};
  data.tenants = {{"a", 3.0}, {"b", 1.0}, {"c", 4.0}};
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0);
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  const SeenRows seen(simulator, WithEntities("queue:1+tenants:1(most=1)"));
  REQUIRE(seen.rows() == 5 + 2);
  // Weights 3, 1 and 4 of those with jobs.
  CHECK((seen.At(0, "tenant_held") == 0.5F && seen.At(0, "tenant_due") == Approx(3.0 / 8.0 - 0.5)));
  CHECK((seen.At(2, "tenant_held") == 0.0F && seen.At(2, "tenant_due") == Approx(1.0 / 8.0)));
  // Job 2: 600 s of age and 60 s to run, against 60 s at 8 / 5 / 4 of its gang.
  CHECK(seen.At(2, "rho") == Approx(std::log(660.0 / (60.0 / 0.4))));
  CHECK((seen.At(5, "tenant") == 1.0F && seen.At(5, "tenants") == 0.0F));
  CHECK(seen.At(5, "fair") == Approx(1.0 / 8.0));
  CHECK(seen.At(5, "wanted") == Approx(std::log(2.0)));
  CHECK(seen.At(5, "waiting") == Approx(std::log(3.0) / 5.0));
  CHECK(seen.At(5, "oldest") == Approx(Minutes(600.0)));
  CHECK((seen.At(5, "served") == 0.0F && seen.At(5, "due") == Approx(1.0 / 8.0)));
  // Tenants 0 and 2.
  CHECK((seen.At(6, "tenant") == 1.0F && seen.At(6, "tenants") == Approx(0.1)));
  CHECK(seen.At(6, "fair") == Approx((3.0 / 8.0 + 4.0 / 8.0) / 2.0));
  CHECK(seen.At(6, "held") == Approx(0.25));
  CHECK(seen.At(6, "served") == Approx(0.5));  // all of it, and none
}

TEST_CASE("entities: jobs held back by hand, nearest first, with the rows of those they wait for") {
  // 1 and 3 wait for 0; 2 for 1 and 4; 5 for 2.
  ScenarioData data = test::TinyData({{"v", 8}}, {{1.0}},
                                     {{0, 60}, {0, 120}, {0, 180}, {0, 240, 0, 2}, {0, 60}, {0, 60}});
  data.features = ParseFeatures("stages(after=1>0:3>0:2>1:2>4:5>2)");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const SeenRows seen(simulator, WithEntities("queue:1+held_back:1(most=3)"), /*q=*/4);
  // Rows: jobs 0 and 4, two that are absent; 1, 2 (which waits for 4 too) and 3; and 5 in the row of all others.
  REQUIRE(seen.rows() == 4 + 4);
  CHECK((seen.Absent(2) && seen.Absent(3)));
  CHECK(seen.point().layout().edges == 4);
  const auto named = [&](int row, int k) { return RowOfEdge(seen.At(row, Join("waits_for_", k))); };
  CHECK((seen.At(4, "present") == 1.0F && seen.At(4, "held_back") == 1.0F));
  CHECK(seen.At(4, "held_work") == Approx(Minutes(120.0)));
  CHECK((named(4, 1) == 0 && named(4, 2) == -1));  // job 1 for 0
  CHECK(seen.At(4, "held_behind") == Approx(std::log(2.0) / 3.0));
  CHECK(seen.At(4, "held_depth") == Approx(0.1));
  CHECK((named(5, 1) == 4 && named(5, 2) == 1 && named(5, 3) == -1));  // job 2 for 1 and 4
  CHECK(seen.At(5, "held_for") == Approx(std::log(3.0) / 3.0));
  CHECK(seen.At(5, "held_depth") == Approx(0.1));  // 4 could run
  CHECK((named(6, 1) == 0 && seen.At(6, "held_gang") == Approx(0.2)));
  CHECK((seen.At(7, "held_back") == 1.0F && seen.At(7, "held_jobs") == 0.0F && named(7, 1) == -1));
  CHECK(seen.At(7, "held_depth") == Approx(0.2));
  // Blind: who waits for whom, and no times.
  MdpSpec blind = WithEntities("queue:1+held_back:1(most=3)");
  blind.knowledge = Knowledge::kBlind;
  CHECK(SeenRows(simulator, blind).At(2, "held_work") == 0.0F);
}

TEST_CASE("entities: rows have no command, with and without kinds of commands, and jobs the same channels") {
  for (const char* actions : {"start", "start,reject"}) {
    CAPTURE(actions);
    Simulator simulator = OnNodes("");
    MdpSpec plain = WithEntities("queue:1", actions), more = WithEntities("tenants:1+queue:1+nodes:1", actions);
    plain.reward = more.reward = "deadline";
    const SeenRows with(simulator, more, 5), without(simulator, plain, 5);
    const int entities = EncoderOf(more.encoder).entities;
    CHECK(entities == 9 + 17);
    CHECK(with.rows() == without.rows() + entities);
    const ObservationLayout &a = without.point().layout(), &b = with.point().layout();
    REQUIRE(a.g == b.g);
    CHECK(b == LayoutOf([&] { MdpSpec five = more; five.visible = 5; return five; }(), simulator.scenario()));
    // One tenant, behind it eight rows without any; four nodes.
    CHECK((with.At(5, "tenant") == 1.0F && with.At(5, "present") == 1.0F && with.Absent(6)));
    CHECK((with.At(14, "node") == 1.0F && with.At(17, "node") == 1.0F && with.Absent(18)));
    const auto legal = with.point().mask().bytes(), expected = without.point().mask().bytes();
    for (int row = 0; row < b.q; ++row) {
      for (int column = 0; column < b.g; ++column) {
        CHECK(legal[U(row * b.g + column)] == (row < a.q ? expected[U(row * a.g + column)] : 0));
      }
    }
    for (const char* channel : {"present", "running", "remaining", "gang", "age"}) {
      for (int job = 0; job < 5; ++job) CHECK(with.At(job, channel) == without.At(job, channel));
    }
  }
}

TEST_CASE("entities: what an observation shows by itself has none, and what is wrong is one line") {
  const char* features = "topology;failures;stages;sharing";
  CHECK(EncoderOf(RichestEncoder(ParseFeatures(features), Semantics::kRedecide, Knowledge::kOracle)).entities == 0);
  CHECK(EncoderOf("observation(blocks=held_back:1(most=3))").edge == 1 + 9);
  CHECK(EncoderOf("observation(blocks=queue:1+held_back:1+nodes:1(most=2))").entities == 17 + 3);
  CHECK_THROWS_WITH(EncoderOf("observation(blocks=queue:1+nodes:1(most=0))"),
                    "nodes: parameter 'most': expected a whole number in [1, 1024], found 0");
  CHECK_THROWS_WITH(EncoderOf("observation(blocks=nodes:1(cap=3))"), Catch::Contains("unknown parameter 'cap'"));
}

}  // namespace berth
