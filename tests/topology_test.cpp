// Nodes, racks and their resources: speeds of spread gangs, what does not fit, fragmentation.
#include "env/features/topology/topology.hpp"

#include <string>
#include <vector>

#include "data/throughputs.hpp"
#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "env/features/topology/placement.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using Types = std::vector<std::pair<std::string, int>>;

Scenario With(ScenarioData data, const std::string& features, int gpus_per_node) {
  for (GpuType& type : data.cluster.types) type.gpus_per_node = gpus_per_node;
  return test::With(std::move(data), features);
}

std::string ErrorOf(const ScenarioData& data, const std::string& features, int gpus_per_node = 2) {
  try {
    With(data, features, gpus_per_node);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// When a gang of two with 100 steps at 1 step/s ends that runs on these devices.
double EndOn(const Scenario& scenario, const std::vector<int>& devices) {
  Simulator sim(scenario);
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0, devices);
  REQUIRE(sim.Apply(decision).ok());
  while (sim.AdvanceToDecision()) REQUIRE(sim.Apply(Decision{}).ok());
  REQUIRE(sim.finished());
  return sim.state().completion[0];
}

TEST_CASE("topology: wrong settings are one line") {
  const ScenarioData data = test::TinyData({{"a", 4}, {"b", 2}}, {{1.0, 1.0}}, {{0, 10}});
  CHECK(ErrorOf(data, "topology(placement=bestfit)").find("did you mean 'best_fit'") != std::string::npos);
  CHECK(ErrorOf(data, "topology(slowdown=some)").find("auto, model, none") != std::string::npos);
  CHECK(ErrorOf(data, "topology(network_gb_s=20)").find("node_gb_s >= network_gb_s") != std::string::npos);
  CHECK(ErrorOf(data, "topology(cpus_per_node=1:2:3)").find("each of 2 GPU types, found 3") !=
        std::string::npos);
  CHECK(ErrorOf(data, "topology(cpus_per_node=-1)").find("at least 0") != std::string::npos);
  CHECK(ErrorOf(data, "topology(rack_gb_s=0)").find("rack_gb_s") != std::string::npos);
  CHECK(ErrorOf(data, "topology(cpus_per_node=3:1,cpus_per_gpu=4)").find("job 0") != std::string::npos);
  CHECK(ErrorOf(data, "topology(cpus_per_node=3:4,cpus_per_gpu=4)") == "");  // on b it runs
}

// Ring all-reduce of 2: 2 (1/2) gradient / bandwidth = 1 GB / bandwidth. Inside a node 0.1 s, between nodes
// 1 s: a step takes 1 s and 1.9 s.
TEST_CASE("topology: a spread gang takes longer by what its gradients take") {
  const ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 100, 0, 2}});
  const Scenario scenario = With(data, "topology(node_gb_s=10,network_gb_s=1,rack_gb_s=1,gradient_gb=1)", 2);
  CHECK(EndOn(scenario, {0, 1}) == Approx(100.0));
  CHECK(EndOn(scenario, {0, 2}) == Approx(190.0));
  CHECK(EndOn(scenario, {2, 3}) == Approx(100.0));
  CHECK(EndOn(With(data, "topology(slowdown=none)", 2), {0, 2}) == Approx(100.0));
  ScenarioData stated = data;
  stated.traits.gradient_gb = {0.5};  // the type's own: 0.05 s and 0.5 s
  CHECK(EndOn(With(stated, "topology(node_gb_s=10,network_gb_s=1,rack_gb_s=1,gradient_gb=1)", 2), {0, 2}) ==
        Approx(145.0));
  CHECK(RingAllReduceSeconds(8, 4.0, 2.0) == 3.5);  // 2 (7/8) 4 / 2
  CHECK(RingAllReduceSeconds(1, 4.0, 2.0) == 0.0);
}

// One GPU a node, two nodes a rack: a gang of two needs two nodes, 1 s in one rack; between racks 2 s.
TEST_CASE("topology: racks count where the link between them is slower") {
  const ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 100, 0, 2}});
  const Scenario scenario =
      With(data, "topology(nodes_per_rack=2,network_gb_s=1,rack_gb_s=0.5,gradient_gb=1)", 1);
  CHECK(EndOn(scenario, {0, 1}) == Approx(100.0));
  CHECK(EndOn(scenario, {1, 2}) == Approx(200.0));
}

TEST_CASE("topology: a measured spread rate comes before the model") {
  ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 100, 0, 2}});
  data.throughputs.unconsolidated = {1.0, 0.4, 0.0};  // gangs of 1, 2, 4
  const std::string links = "node_gb_s=10,network_gb_s=1,rack_gb_s=1,gradient_gb=1)";
  CHECK(EndOn(With(data, "topology(" + links, 2), {0, 2}) == Approx(250.0));  // 100 / 0.4
  CHECK(EndOn(With(data, "topology(" + links, 2), {0, 1}) == Approx(100.0));
  CHECK(EndOn(With(data, "topology(slowdown=model," + links, 2), {0, 2}) == Approx(190.0));
  data.jobs.gang[0] = 4;  // not measured: ring of 4: 2 (3/4) 1 GB: 1.5 s, and 0.15 s inside a node
  const Scenario four = With(data, "topology(" + links, 4);
  const ClusterLayout layout = MakeLayout(*four.data().features.Find<TopologySettings>(), four.data());
  CHECK(SpreadFactor(four, layout, {0, 0, 4, 1.0}, {2, 1}) == Approx(1.0 / (1.0 + 1.35)));
  CHECK(SpreadFactor(four, layout, {0, 0, 4, 1.0}, {1, 1}) == 1.0);
}

// The authors' own figures (Narayanan et al., OSDI 2020): where they measured a gang spread, that is its
// rate.
TEST_CASE("topology: gangs of the published workload run at the published rates") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=64/8,p100=64/8,k80=64/8");
  settings.features = ParseFeatures("topology");
  const Scenario scenario =
      MakeWorkload("synthetic(jobs=400,gangs=multi)", settings)->Make(1, Split::kTrain, 0, 0, 0);
  const ClusterLayout layout =
      MakeLayout(*scenario.data().features.Find<TopologySettings>(), scenario.data());
  const ThroughputTable& table = scenario.data().throughputs;
  int measured = 0;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const int gang = scenario.data().jobs.gang[U(job)], kind = scenario.data().jobs.job_type[U(job)];
    const int size = gang == 1 ? 0 : gang == 2 ? 1 : gang == 4 ? 2 : 3;
    for (int type = 0; type < 3 && gang > 1; ++type) {
      const std::size_t at = (U(kind) * 4 + U(size)) * 3 + U(type);
      if (table.unconsolidated[at] == 0.0) continue;
      const double factor = SpreadFactor(scenario, layout, {kind, type, gang, scenario.Rate(job, type)}, {gang, 1});
      REQUIRE(scenario.Rate(job, type) * factor == Approx(table.unconsolidated[at]).epsilon(1e-14));
      ++measured;
    }
  }
  CHECK(measured > 200);
}

// Four GPUs and 8 cores on one node, 4 cores a job: two run. The third is ordered all the same, waits and is
// counted; it starts when job 0 ends at 10 s and ends at 30 s.
TEST_CASE("topology: an order that finds GPUs and no cores waits on and is counted") {
  const ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 10}, {0, 20}, {0, 20}});
  const Scenario scenario = With(data, "topology(cpus_per_node=8,cpus_per_gpu=4)", 4);
  Simulator sim(scenario);
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  for (int job : {0, 1, 2}) decision.Start(job, 0);
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().features.Find<PlacementState>()->unplaced_orders == 1);
  CHECK(sim.state().phase[2] == JobPhase::kWaiting);
  CHECK(sim.state().free_gpus[0] == 2);
  CHECK(CheckInvariants(sim) == "");

  Decision named;  // says where: an illegal decision
  named.Start(2, 0, std::vector<int>{3});
  const ApplyResult refused = sim.Apply(named);
  CHECK(refused.rule == Rule::kNodeResources);
  CHECK(Explain(refused, named, sim).find("cores") != std::string::npos);
  named.Stop(0);  // which frees its cores
  Simulator copy = sim;
  CHECK(copy.Apply(named).ok());
  CHECK(CheckInvariants(copy) == "");

  REQUIRE(sim.AdvanceToDecision());
  REQUIRE(sim.now() == 10.0);
  decision.Clear(), decision.Start(2, 0);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  REQUIRE_FALSE((sim.Apply(Decision{}).ok() && sim.AdvanceToDecision() && sim.Apply(Decision{}).ok() &&
                 sim.AdvanceToDecision()));
  CHECK(sim.state().completion[2] == 30.0);
}

TEST_CASE("topology: a move that finds no cores stops the job") {
  // b has 1 core for two GPUs; job 1 holds it, so job 0 (type b by a move) finds none.
  ScenarioData data = test::TinyData({{"a", 2}, {"b", 2}}, {{1.0, 1.0}}, {{0, 100}, {0, 100}});
  const Scenario scenario = With(data, "topology(cpus_per_node=2:1,cpus_per_gpu=1)", 2);
  Simulator sim(scenario, {.keep_events = true});
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0), decision.Start(1, 1), decision.wake_at = 5.0;
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  decision.Clear(), decision.Move(0, 1);
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().phase[0] == JobPhase::kWaiting);
  CHECK(sim.events().back().kind == EventKind::kStop);
  CHECK(sim.state().steps_done[0] == 5.0);
  CHECK(CheckInvariants(sim) == "");
}

// A CPU is a type like any other: job 0 trains on the GPU, jobs 1 and 2 (preprocessing) run on 4 of 8 cores
// each, which they fill; job 3 can run on both, the GPU is taken, so it waits for cores until 40 s.
TEST_CASE("topology: CPU-only nodes run what has a rate there") {
  ScenarioData data = test::TinyData({{"v100", 1}, {"cpu", 8}}, {{2.0, 0.0}, {0.0, 1.0}, {4.0, 1.0}},
                                     {{0, 200, 0, 1}, {0, 40, 1, 4}, {0, 50, 1, 4}, {1, 10, 2, 1}});
  data.cluster.types[1].gpus_per_node = 8;
  data.features = ParseFeatures("topology(cpus_per_node=8:8,cpus_per_gpu=1)");
  const std::vector<double> ends = test::Ends("fcfs", Scenario(data));
  CHECK(ends == std::vector<double>{100.0, 40.0, 50.0, 50.0});
}

// Two nodes of four, three GPUs busy on each until 10 s: of the two idle GPUs neither holds the waiting gang
// of two consolidated: 1. From 10 s to 20 s nobody waits: 0. On average 0.5.
TEST_CASE("topology: fragmentation by hand") {
  ScenarioData data =
      test::TinyData({{"a", 8}}, {{1.0}}, {{0, 10, 0, 1}, {0, 10, 0, 1}, {0, 10, 0, 4}, {0, 10, 0, 2}});
  const Scenario scenario = With(data, "topology(slowdown=none)", 4);
  Simulator sim(scenario);
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0, std::vector<int>{0}), decision.Start(1, 0, std::vector<int>{4});
  decision.Start(2, 0, std::vector<int>{1, 2, 5, 6});
  REQUIRE(sim.Apply(decision).ok());
  const PlacementState& placement = *sim.state().features.Find<PlacementState>();
  CHECK(placement.fragmentation == 1.0);
  CHECK(placement.gang_starts == 1);
  CHECK(placement.spread_starts == 1);
  CHECK_FALSE(placement.CanConsolidate(3, 0, 2));
  REQUIRE(sim.AdvanceToDecision());
  decision.Clear(), decision.Start(3, 0);
  REQUIRE(sim.Apply(decision).ok());
  CHECK(placement.fragmentation == 0.0);
  CHECK(placement.spread_starts == 1);
  REQUIRE_FALSE(sim.AdvanceToDecision());
  const Metrics metrics = Measure(sim, {});
  CHECK(metrics.Of("fragmentation") == Approx(0.5));
  CHECK(metrics.Of("spread_starts") == Approx(0.5));
}

TEST_CASE("topology: without slowdown or limits, placing lowest changes no event") {
  for (const Clock& clock : test::AllClocks()) {
    for (const char* scheduler : {"srpt", "easy", "las", "gandiva"}) {
      CAPTURE(clock.ToString(), scheduler);
      const Scenario plain = test::RandomScenario(5, 40, clock);
      const Scenario on = WithFeatures(plain, ParseFeatures("topology(slowdown=none)"));
      CHECK(test::RunOf(scheduler, plain).signature == test::RunOf(scheduler, on).signature);
    }
  }
}

// Random orders on random clusters, with failures beside: books, rates and consolidation hold at every step.
TEST_CASE("topology: random orders keep the books") {
  Stream stream(11, Purpose::kTest);
  const char* const rules[] = {"lowest", "best_fit", "consolidate", "spread"};
  std::int64_t unplaced = 0, spread = 0, packs = 0, refused = 0;
  for (int run = 0; run < 48; ++run) {
    const bool rounds = run % 2 == 1;
    ScenarioData data =
        test::RandomScenario(U(run), 40, rounds ? Clock{ClockKind::kRounds, 60.0} : Clock{}).data();
    data.cluster.types[0].gpus_per_node = 2, data.cluster.types[1].gpus_per_node = 3;
    const std::size_t columns = 1 + stream.Below(kResourceKinds);
    for (std::size_t k = 0; k < data.jobs.arrival.size() * columns; ++k)
      data.jobs.demand.push_back(0.25 * stream.Below(9));
    std::string text = Join("topology(placement=", rules[run % 4], ",cpus_per_node=3:4:2,node_memory_gb=5,",
                            "further_per_node=9,nodes_per_rack=", stream.Below(3), ")");
    const bool failures = run % 3 == 0;
    if (failures) text += ";failures(mtbf_h=0.5,repair_h=0.05)";
    data.features = ParseFeatures(text);
    const Scenario scenario{data};
    Simulator sim(scenario);
    Auditor auditor;
    const auto violation = [&] {  // within a round only a debug build sees what fails
      return rounds && failures ? CheckInvariants(sim) : test::Observe(auditor, sim);
    };
    CAPTURE(run, text);
    for (int step = 0; step < 120 && sim.AdvanceToDecision(); ++step) {
      REQUIRE(violation() == "");
      Decision decision;
      const std::vector<int> active(sim.state().active.begin(), sim.state().active.end());
      std::vector<int> room = sim.state().free_gpus;
      for (int job : active) {
        const int type = static_cast<int>(stream.Below(3)), gang = data.jobs.gang[U(job)];
        const bool waits = sim.state().phase[U(job)] == JobPhase::kWaiting;
        const std::uint32_t what = stream.Below(8);
        if (!waits && what == 0) decision.Stop(job);
        if (scenario.Rate(job, type) <= 0.0 || room[U(type)] < gang) continue;
        if (waits ? what < 6 : what == 1) {
          room[U(type)] -= gang;
          waits ? decision.Start(job, type) : decision.Move(job, type);
        } else if (waits && what == 6) {  // with devices: perhaps illegal
          std::vector<int> devices;
          for (int k = 0; k < gang; ++k) devices.push_back(scenario.first_device(type) + k);
          Decision named;
          named.Start(job, type, devices);
          Simulator copy = sim;
          const ApplyResult result = copy.Apply(named);
          refused += result.rule == Rule::kNodeResources;
          REQUIRE(CheckInvariants(copy) == "");
        }
      }
      if (run % 5 == 0 && !sim.state().running.empty()) {
        const int host = *sim.state().running.begin();
        for (int job : active) {
          Decision pack;
          pack.Pack(job, host);
          Simulator copy = sim;
          if (sim.state().phase[U(job)] != JobPhase::kWaiting || !copy.Apply(pack).ok()) continue;
          ++packs;
          REQUIRE(CheckInvariants(copy) == "");
        }
      }
      decision.wake_at = sim.now() + 30.0;
      REQUIRE(sim.Apply(decision).ok());
      REQUIRE(violation() == "");
      const PlacementState& placement = *sim.state().features.Find<PlacementState>();
      REQUIRE(placement.fragmentation >= 0.0);
      REQUIRE(placement.fragmentation <= 1.0);
      for (int job : sim.state().running) {
        const auto devices = sim.state().Devices(job);
        const int type = sim.state().on_type[U(job)];
        const PlacedGang gang = {data.jobs.job_type[U(job)], type, static_cast<int>(devices.size()),
                                 scenario.Rate(job, type)};
        const double factor = SpreadFactor(scenario, *placement.layout, gang, placement.ExtentOf(devices));
        REQUIRE(sim.state().rate[U(job)] == scenario.Rate(job, type) * factor);
        REQUIRE((factor == 1.0) == placement.Consolidated(type, devices));
      }
    }
    unplaced += sim.state().features.Find<PlacementState>()->unplaced_orders;
    spread += sim.state().features.Find<PlacementState>()->spread_starts;
  }
  CHECK(unplaced > 100);
  CHECK(spread > 100);
  CHECK(packs > 20);
  CHECK(refused > 20);
}

}  // namespace
TEST_CASE("topology: the invariant sees what jobs hold and is idle on its node") {
  const Scenario scenario = With(test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 700, 0, 2}}), "topology", 2);
  Simulator sim(scenario);
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  test::Frame frame(sim);
  REQUIRE(CheckInvariants(frame.Invariant(scenario)) == "");
  auto& placement = *frame.state.features.Find<PlacementState>();
  placement.free.rooms.Add(placement.layout->NodeOf(0), 1);
  CHECK(CheckInvariants(frame.Invariant(scenario)).rfind("topology: node 0", 0) == 0);
}

}  // namespace berth
