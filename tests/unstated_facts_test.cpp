// What tables of one's own do not say, where other rows of theirs do: it is not 0, nor as good as measured.
#include <cmath>
#include <fstream>

#include "data/tables/job_table.hpp"
#include "env/base/index.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

// Gangs of two with 100 steps each, of types y, x and z in this order, on GPUs of nodes of two.
Scenario Gangs(const std::string& features, std::vector<JobTypeFacts> facts, const std::string& speeds = "") {
  const test::TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  };
  ScenarioSettings settings;
  settings.cluster = ParseCluster("a100=8/2");
  settings.features = ParseFeatures(features);
  settings.job_types = std::move(facts);
  JobTableRequest request;
  request.estimate_missing = true;
  if (!speeds.empty()) request.speeds = write("speeds.csv", speeds);
  return ReadJobTable(write("jobs.csv", "arrival,steps,gpus,type\n0,100,2,y\n0,100,2,x\n0,100,2,z\n"), request, settings)
      .scenario;
}

// When each ends, on these two GPUs.
std::vector<double> SpreadEnds(const Scenario& scenario, const Pairs& places) {
  Simulator sim(scenario);
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  for (std::size_t job = 0; job < places.size(); ++job)
    decision.Start(static_cast<int>(job), 0, std::vector<int>{places[job].first, places[job].second});
  REQUIRE(sim.Apply(decision).ok());
  while (sim.AdvanceToDecision()) REQUIRE(sim.Apply(Decision{}).ok());
  REQUIRE(sim.finished());
  return {sim.state().completion.begin(), sim.state().completion.end()};
}

const Pairs kSpread = {{0, 2}, {1, 4}, {3, 6}};

// Ring all-reduce of 2 sends what it reduces: 1 GB takes 1 s between nodes and 0.1 s inside one.
constexpr const char* kLinks = "topology(node_gb_s=10,network_gb_s=1,rack_gb_s=1,gradient_gb=1)";

}  // namespace

// A step of 1 s takes 0.9 s more of y's 1 GB, 0.45 s of x's half, and nothing of what z states to be 0.
TEST_CASE("unstated facts: what one job type states is no 0 of another") {
  const std::vector<JobTypeFacts> facts = {{"x", {{"gradient_gb", 0.5}, {"checkpoint_gb", 20.0}}, ""},
                                           {"z", {{"gradient_gb", 0.0}, {"checkpoint_gb", 0.0}}, ""}};
  const Scenario scenario = Gangs(Join(kLinks, ";checkpoints(gb=10)"), facts);
  const std::vector<double> ends = SpreadEnds(scenario, kSpread);
  CHECK(ends[0] == Approx(190.0));
  CHECK(ends[1] == Approx(145.0));
  CHECK(ends[2] == Approx(100.0));
  const Simulator sim(scenario);
  CHECK(sim.state().features.Find<CheckpointState>()->save_s == std::vector<double>{10.0, 20.0, 0.0});
  // One gap is as good as another, and no 0.
  ScenarioData data = scenario.data();
  const std::uint64_t hash = scenario.Hash();
  data.traits.gradient_gb[0] = -std::nan("1");
  CHECK(Scenario(data).Hash() == hash);
  data.traits.gradient_gb[0] = 0.0;
  CHECK(Scenario(data).Hash() != hash);
  // Columns without a default of a feature's have none.
  data.traits.memory_gb = {std::nan(""), 1.0, 1.0};
  CHECK(test::Says(test::ErrorOf(data), "job types: column memory_gb: expected a number >= 0"));
}

// All make 1 step/s on one node. x was measured at half of that over two; y was not, nor z, and take 1.9 s a step.
TEST_CASE("unstated facts: a gang that was not measured spread is not as fast as on one node") {
  const std::string head = "job_type,gpu_type,gpus,steps_per_s,spread_steps_per_s\n";
  const Scenario some = Gangs(kLinks, {}, head + "y,a100,2,1,\nx,a100,2,1,0.5\nz,a100,2,1,0\n");
  CHECK(some.data().throughputs.unconsolidated == std::vector<double>{0.0, 0.5, 0.0});
  const std::vector<double> ends = SpreadEnds(some, kSpread);
  CHECK(ends[0] == Approx(190.0));
  CHECK(ends[1] == Approx(200.0));
  CHECK(ends[2] == Approx(190.0));
  // Nor was one whose speed is estimated. GPUs alone are on one node.
  const Scenario estimated = Gangs(kLinks, {},
                                   head + "y,a100,1,1,\ny,a100,2,1,0.5\nx,a100,1,1,\nz,a100,1,1,\nz,a100,2,1,0.5\n");
  CHECK(estimated.Rate(1, 0) > 0.0);
  CHECK(estimated.data().throughputs.unconsolidated == std::vector<double>{1.0, 0.5, 1.0, 0.0, 1.0, 0.5});
}

}  // namespace berth
