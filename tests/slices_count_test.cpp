// What counts GPUs counts those that stand in the nodes: slices (feature partitions) are parts of them, by hand.
#include <cmath>
#include <string>
#include <vector>

#include "baselines/slurm/priority.hpp"
#include "env/gym/signals/load_prices.hpp"
#include "tests/a100s.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"
#include "tests/seen_rows.hpp"
#include "tools/scenario_summary.hpp"

namespace berth {
namespace {

using test::A100s;
using test::SeenRows;
using test::WithEntities;

// A device in service on the node, of the type whose name ends so; its type beside it.
std::pair<int, int> SliceOn(const Simulator& simulator, int node, const std::string& profile) {
  for (int device = 0; device < simulator.scenario().num_gpus(); ++device) {
    const int type = simulator.scenario().TypeOfDevice(device);
    if (simulator.scenario().data().cluster.types[U(type)].name.ends_with(profile) && simulator.state().InService(device) &&
        simulator.scenario().NodeOf(device) == node)
      return {type, device};
  }
  FAIL("no " << profile << " on node " << node);
  return {};
}

}  // namespace

TEST_CASE("slices: no more GPUs in tenants and in the queue") {
  // Four A100s, which could be 28 slices and more. Job 0 has all of them, job 1 of another tenant wants all.
  ScenarioData data = test::A100s(4, {{0, 3600, 0, 4}, {600, 60, 0, 4}}, {1.0}, "partitions");
  data.jobs.tenant = {0, 1};
  data.tenants = {{"a", 1.0}, {"b", 1.0}};
  Simulator simulator{Scenario(std::move(data))};
  CHECK((simulator.scenario().num_whole_gpus() == 4 && simulator.scenario().num_gpus() > 4));
  REQUIRE(simulator.AdvanceToDecision());
  {
    const SeenRows idle(simulator, WithEntities("queue:1+tenants:1"));
    CHECK(idle.Global("idle") == 1.0F);
  }
  Decision decision;
  decision.Start(0, 0);
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  const SeenRows seen(simulator, WithEntities("queue:1+tenants:1"));
  CHECK((seen.At(0, "tenant_held") == 1.0F && seen.At(0, "tenant_due") == -0.5F));
  CHECK((seen.At(2, "held") == 1.0F && seen.At(3, "held") == 0.0F));
  CHECK(seen.At(3, "wanted") == Approx(std::log(2.0)));
  CHECK(seen.At(0, "rho") == Approx(std::log(3600.0 / 7200.0)));  // alone on half of every GPU
  CHECK(seen.Global("demand") == Approx(std::log(3.0)));
  CHECK(seen.Global("idle") == 0.0F);
  // Two A100s in halves: a slice is three sevenths of one, and so of the tenant's, of the type's and of idle ones.
  data = test::A100s(2, {{0, 3600}, {600, 60}}, {3.0 / 7.0}, "partitions(layout=3g.40gb+3g.40gb)");
  Simulator halves{Scenario(std::move(data))};
  REQUIRE(halves.AdvanceToDecision());
  int slice = 1;
  while (halves.state().free_gpus[U(slice)] == 0) ++slice;
  decision.Clear();
  decision.Start(0, slice);
  REQUIRE(halves.Apply(decision).ok());
  REQUIRE(halves.AdvanceToDecision());
  const SeenRows three(halves, WithEntities("queue:1+tenants:1"));
  CHECK(three.At(0, "tenant_held") == Approx(3.0 / 14.0));
  CHECK(three.Global("idle") == Approx(3.0 * 3.0 / 14.0));
}

// Four A100s in slices, two a node, of which the first is down from 300 s on. On node 1 job 0 has three sevenths of one, job 1 of another
// tenant a seventh; job 2 waits from 600 s on.
TEST_CASE("slices: what is in service and what was used counts as parts of GPUs") {
  ScenarioData data = A100s(4, {{0, 3600}, {0, 3600}, {600, 60}}, {1.0 / 7.0},
                            "partitions(layout=3g.40gb+2g.20gb+1g.10gb+1g.10gb);failures(mtbf_h=0,events=300:1e9:gpu:a100/0)");
  data.cluster.types[0].gpus_per_node = 2;
  data.jobs.tenant = {0, 1, 0};
  data.tenants = {{"a", 1.0}, {"b", 1.0}};
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  for (const auto& [job, profile] : {std::pair{0, "3g.40gb"}, {1, "1g.10gb"}}) {
    const auto [type, device] = SliceOn(simulator, 1, profile);
    decision.Start(job, type, std::vector<int>{device});
  }
  REQUIRE(simulator.Apply(decision).ok());
  while (simulator.now() < 600.0) {
    REQUIRE(simulator.AdvanceToDecision());
    if (simulator.now() < 600.0) REQUIRE(simulator.Apply(Decision()).ok());
  }
  const SeenRows seen(simulator, WithEntities("queue:1+failures:1+nodes:1(most=2)+tenants:1"));
  CHECK(seen.Global("in_service") == Approx(0.75));
  CHECK((seen.At(3, "node") == 1.0F && seen.At(3, "missing") == 0.0F && seen.At(3, "jobs") > 0.0F));
  CHECK((seen.At(4, "node") == 1.0F && seen.At(4, "missing") == 0.5F && seen.At(4, "whole") == 0.0F));
  CHECK(seen.At(6, "served") == Approx(0.75));
  CHECK(seen.At(7, "served") == Approx(0.25));
}

TEST_CASE("slices: replicas that lack a GPU lack one of those that there are") {
  Simulator simulator{Scenario(A100s(2, {{0, 60}}, {1.0}, "partitions;services(replicas=3)"))};
  REQUIRE(simulator.AdvanceToDecision());
  CHECK(SeenRows(simulator, WithEntities("queue:1+services:1")).Global("replicas_wanted") == 0.5F);
  CHECK(ScenarioJson(simulator.scenario())["gpus"] == 2);
}

TEST_CASE("slices: Slurm's priorities by size are shares of the GPUs") {
  Simulator simulator{Scenario(A100s(4, {{0, 60, 0, 4}, {0, 60, 0, 2}}, {1.0}, "partitions"))};
  REQUIRE(simulator.AdvanceToDecision());
  for (double SlurmSettings::*weight : {&SlurmSettings::weight_gpu, &SlurmSettings::weight_size}) {
    SlurmSettings settings = DefaultSlurmSettings();
    settings.multifactor = true;
    settings.*weight = 1000.0;
    const std::vector<SlurmQos> qos;
    SlurmPriority priority(settings, qos);
    const ClusterView view = simulator.View(Knowledge::kEstimate);
    priority.Reset(view);
    SlurmNodeTable nodes;
    nodes.Reset(view, settings);
    priority.Observe(view, std::vector<SlurmClass>(1), nodes);
    CHECK((priority.Of(0) == 1000.0 && priority.Of(1) == 500.0));
  }
}

TEST_CASE("slices: a job that no pool can ever run is refused with and without them") {
  for (const char* features : {"", "partitions"}) {
    const Scenario scenario(A100s(2, {{0, 100, 0, 2}}, {1.0}, features));
    CHECK(test::Says(test::MessageOf([&] { test::RunOf("pools(pools=a:a100/0.5|b:a100)", scenario); }),
                     "expected a pool that can run job 0 of gang 2"));
  }
}

// Seven GPU s, each as fast on a seventh of the only GPU: all at once take 1 s, and no more than that GPU is there.
TEST_CASE("slices: the price of a slice is its part of its GPU's") {
  const std::vector<TypedWork> work(7, {1.0, {1.0, 1.0}});
  const double gpus[] = {1.0, 7.0};
  const TypePart parts[] = {{}, {0, 1, 7}};
  const LoadPrices found = FindLoadPrices(work, gpus, parts);
  CHECK(found.load == Approx(1.0));
  CHECK(found.price[0] == Approx(1.0));
  CHECK(found.price[1] == Approx(1.0 / 7.0));
}

}  // namespace berth
