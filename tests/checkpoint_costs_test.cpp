// Schedulers that weigh what a stop costs, where that goes by the size of a job's state (feature
// checkpoints); preempt_migrate in preemptive_test.cpp.
#include <algorithm>

#include "baselines/ranking.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::Decisions;
using test::Ends;
using test::TinyData;

}  // namespace

// State of 12 GB, written at 4 and read at 2 GB/s: 3 s + 6 s, and 1 s of cold start. A first start pays the
// cold start alone; whoever ran before all of it, whatever the type; whoever stays nothing. Costs does not
// count beside the feature.
TEST_CASE("what a start costs is what the feature checkpoints charges, by hand", "[baselines]") {
  ScenarioData data = TinyData({{"a", 1}, {"b", 1}}, {{1.0, 1.0}}, {{0, 100}, {0, 100}});
  data.costs = {100.0, 100.0, 100.0};
  data.features = ParseFeatures("checkpoints(gb=12,write_gb_s=4,read_gb_s=2,cold_start_s=1)");
  Simulator sim{Scenario(data)};
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  const ClusterView view = sim.View(Knowledge::kNone);
  CHECK(ChangeSeconds(view, 0, 0) == 0.0);
  CHECK(ChangeSeconds(view, 0, 1) == 10.0);
  CHECK(ChangeSeconds(view, 1, 1) == 1.0);
  CHECK(StartSeconds(view, 0, 0, 0) == 10.0);  // stopped and started where it is
}

// Job 0 (20 s, due at 50) runs; job 1 (20 s, due at 55) comes at 1: laxities 30 and 34. While 0 runs, 1's
// falls by a second each second: at 6 it has 29, against 30. With slices of 1 s job 1 takes over at 6 if a
// stop costs nothing; at a cost of 8 s when it has less than 30 - 8: at 14 (21).
TEST_CASE("least_laxity: a running job is worth what stopping it costs by its size", "[baselines]") {
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 20}, {1, 20}});
  data.jobs.deadline = {50.0, 55.0};
  const auto stopped_at = [&](const char* features) {
    data.features = ParseFeatures(features);
    const test::Log log = Decisions("least_laxity(slice=1)", Scenario(data));
    const auto at = std::find_if(log.begin(), log.end(), [](const std::string& line) {
      return line.find(" stop 0") != std::string::npos;
    });
    REQUIRE(at != log.end());
    return at->substr(0, at->find(' '));
  };
  CHECK(stopped_at("") == "6");
  CHECK(stopped_at("checkpoints(gb=4,write_gb_s=1,read_gb_s=1)") == "14");
}

// One GPU. Job 0 (20 s, due at 40) runs when job 1 (5 s, due at 10) comes at 2: it would run 2-7, and job 0
// on from 7 with 18 s left to 25 plus what saving and loading it takes. With 15 GB at 1 GB/s that is 55: too
// late, so job 1 is rejected; with 7 GB 39, and it is admitted.
TEST_CASE("deadline_admission: the forecast pays for state by its size", "[baselines]") {
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 20}, {2, 5}});
  data.jobs.deadline = {40.0, 10.0};
  data.features = ParseFeatures("checkpoints(gb=15)");
  CHECK(Ends("deadline_admission", Scenario(data)) == std::vector<double>{20.0, kNever});
  data.features = ParseFeatures("checkpoints(gb=7)");
  CHECK(Ends("deadline_admission", Scenario(data)) == std::vector<double>{39.0, 7.0});
}

}  // namespace berth
