// A feature is a module: one that is not shipped, in a table with one line more, is parsed, runs, is checked,
// measured, observed and drawn, and nothing else knows it.
#include "tests/maintenance/maintenance.hpp"

#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/gym/encoder.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/observation_block.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/json.hpp"
#include "tools/report/timeline.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

using test::MaintenanceState;

FeatureTable Table() {
  static const std::vector<FeatureModule> kTable = [] {
    std::vector<FeatureModule> table(ShippedFeatures().begin(), ShippedFeatures().end());
    table.push_back(test::MaintenanceFeature());
    return table;
  }();
  return kTable;
}

// Two nodes of one GPU, two jobs of two hours; node 0 is closed from 1 h to 3 h. Job 0 begins there, loses an
// hour, and waits for job 1 to leave node 1 at 2 h: it ends at 4 h.
Scenario Closed() {
  ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 7200}, {0, 7200}});
  data.features = ParseFeatures("maintenance(nodes=0,start_h=1,hours=2)", Table());
  return Scenario(std::move(data));
}

std::string RefusalOf(const std::string& text) {
  try {
    ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 7200}});
    data.features = ParseFeatures(text, Table());
    Scenario scenario(std::move(data));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void StartWaiting(Simulator& sim) {
  Decision decision;
  for (int job : sim.state().waiting) {
    if (static_cast<int>(decision.commands.size()) < sim.state().free_gpus[0]) decision.Start(job, 0);
  }
  REQUIRE(sim.Apply(decision).ok());
}

}  // namespace

TEST_CASE("maintenance: its text is read, written, checked and listed like any other's") {
  const std::string text = "power(cap_w=9000);maintenance(nodes=0:1,start_h=1:5)";
  const Features features = ParseFeatures(text, Table());
  REQUIRE(features.Find<test::MaintenanceSettings>() != nullptr);
  CHECK(features.Find<test::MaintenanceSettings>()->start_h == std::vector<double>{1.0, 5.0});
  CHECK(ToString(features).ends_with(";maintenance(nodes=0:1,start_h=1:5,hours=1)"));
  CHECK(ToString(ParseFeatures(ToString(features), Table())) == ToString(features));
  CHECK(ListFeatures(Table()).back().name == "maintenance");
  CHECK_THROWS_AS(ParseFeatures("maintenance"), Error);  // the shipped table
  CHECK_THAT(RefusalOf("maintenance(node=0)"), Catch::Contains("did you mean 'nodes'"));
  CHECK_THAT(RefusalOf("maintenance(hours=0)"), Catch::Contains("feature 'maintenance': hours: expected"));
  CHECK_THAT(RefusalOf("maintenance(nodes=0)"), Catch::Contains("start_h: expected 1 entries"));
  CHECK_THAT(RefusalOf("maintenance(nodes=9,start_h=1)"), Catch::Contains("nodes: expected 0 to "));
  CHECK(Closed().Hash() != WithFeatures(Closed(), Features()).Hash());
}

TEST_CASE("maintenance: nodes close and reopen, and the checker sees where they do not") {
  Simulator sim(Closed());
  Auditor auditor;
  while (sim.AdvanceToDecision()) {
    REQUIRE(test::Observe(auditor, sim) == "");
    const bool shut = sim.now() >= 3600.0 && sim.now() < 10800.0;
    CHECK(sim.state().InService(0) == !shut);
    CHECK(sim.View(Knowledge::kNone).types()[0].count == (shut ? 1 : 2));
    StartWaiting(sim);
    REQUIRE(test::Observe(auditor, sim) == "");
    if (sim.now() != 3600.0) continue;
    Simulator copy = sim;  // goes its own way
    REQUIRE(copy.AdvanceToDecision());
    CHECK(sim.now() == 3600.0);
    test::Frame frame(sim);
    frame.state.features.Find<MaintenanceState>()->closed[1] = 1;
    CHECK_THAT(CheckInvariants(frame.Invariant(sim.scenario())), Catch::StartsWith("maintenance: device 1"));
  }
  CHECK(sim.finished());
  CHECK(sim.state().completion == std::vector<double>{14400.0, 7200.0});
  CHECK(sim.state().interruptions == std::vector<int>{1, 0});
}

TEST_CASE("maintenance: its column and its lane appear") {
  const RunResult run = test::RunOf("fcfs(overtake=true)", Closed());
  CHECK(run.metrics.Of("closed_gpu_hours") == 2.0);
  CHECK(run.metrics.lost_work_h == 0.5);  // a job
  const std::vector<MetricField> fields = MetricFieldsOf(Table());
  CHECK(std::string(fields.back().key) == "closed_gpu_hours");
  CHECK(fields.back().Get(run.metrics) == 2.0);
  CHECK(MetricFields().size() + 1 == fields.size());

  RunRecorder recorder(Closed());
  const RunRecord record = recorder.Finish(run);
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/timeline.json";
  WriteTimeline(path, Closed(), {{"fcfs", &record}});
  int lanes = 0;
  const Json timeline = ReadJson(path);
  for (const Json& event : timeline["traceEvents"]) {
    if (event.value("cat", "") != "feature") continue;
    ++lanes;
    CHECK(event["name"] == "maintenance");
    CHECK(event["ts"] == 3600000000);
    CHECK(event["dur"] == 7200000000);
  }
  CHECK(lanes == 1);
}

TEST_CASE("maintenance: its channel stands in an observation beside any others") {
  const std::string list = "observation(blocks=queue:1+maintenance:1)";
  CHECK_THROWS_AS(EncoderOf(list), Error);  // of the shipped table
  const AlsoKnownBlocks also(Table());
  MdpSpec mdp;
  mdp.encoder = list;
  Encoder encoder(mdp);
  CHECK(std::string(encoder.info().type.back().name) == "closed");
  Simulator sim(Closed());
  REQUIRE(sim.AdvanceToDecision());
  StartWaiting(sim);
  REQUIRE(sim.AdvanceToDecision());  // 1 h: node 0 is closed
  const ClusterView view = sim.View(mdp.knowledge);
  encoder.Begin(view);
  std::vector<int> visible;
  encoder.Select(view, view.active(), 2, visible);
  const ObservationLayout layout = encoder.Layout(2, 1);
  std::vector<float> row(U(layout.size()));
  encoder.Encode({view, view.free_gpus(), view.active(), visible}, layout, row);
  CHECK(row[U(layout.types_offset() + layout.type_channels - 1)] == 0.5F);
}

TEST_CASE("maintenance: its channel is written") {
  const BlockInfo block = test::MaintenanceFeature().blocks[0]();
  REQUIRE(block.type.size() == 1);
  CHECK(std::string(block.type[0].name) == "closed");
  SharedWorks shared;
  Params params({"maintenance", {}}, block.params);
  const auto writer = block.make(params, {Knowledge::kNone, false, false, false, true, shared});
  Simulator sim(Closed());
  for (const float expected : {0.0F, 0.5F, 0.5F, 0.0F, 0.0F}) {  // at 0, 1, 2, 3 and 4 h
    const bool decides = sim.AdvanceToDecision();
    const ClusterView view = sim.View(Knowledge::kNone);
    float channel = -1.0F;
    const ChannelRows none{nullptr, 0};
    writer->Write({view, view.free_gpus(), {}, {}}, {none, none, {&channel, 1}, nullptr, 0});
    CHECK(channel == expected);
    if (decides) StartWaiting(sim);
  }
}

TEST_CASE("features: no two own a kind of timer or a name") {
  std::set<std::uint8_t> kinds;
  std::set<std::string> names;
  for (const FeatureModule& feature : Table()) {
    CAPTURE(feature.name);
    CHECK(names.insert(feature.name).second);
    for (const TimerKind kind : feature.timers) CHECK(kinds.insert(static_cast<std::uint8_t>(kind)).second);
  }
  CHECK(kinds.size() == 15);
}

}  // namespace berth
