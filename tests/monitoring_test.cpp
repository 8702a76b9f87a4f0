// The feature monitoring (env/features/monitoring/monitoring.hpp) by hand, and in the event file.
#include "env/features/monitoring/monitoring.hpp"

#include <memory>
#include <string>
#include <tuple>

#include "data/hdf5_file.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

// Two GPUs of type a (10 W idle, 110 W at peak), one of type b. Job 0 (gang 2, 150 s on a), job 1 (from 40 s,
// 70 s: on b, its only other choice), job 2 (gang 2, from 60 s: waits for a until 150 s, then runs 100 s).
Scenario Three(const std::string& features) {
  ScenarioData data = test::TinyData({{"a", 2}, {"b", 1}}, {{1.0, 0.0}, {0.0, 1.0}},
                                     {{0, 150, 0, 2}, {40, 70, 1, 1}, {60, 100, 0, 2}});
  data.cluster.types[0].idle_power_w = 10.0, data.cluster.types[0].peak_power_w = 110.0;
  data.cluster.types[1].idle_power_w = 5.0, data.cluster.types[1].peak_power_w = 25.0;
  data.traits.memory_gb = {24.0, 6.0};
  data.features = ParseFeatures(features);
  return Scenario(std::move(data));
}

}  // namespace

TEST_CASE("monitoring: a series worked out by hand") {
  for (const char* features : {"monitoring(interval_s=100)", "monitoring(interval_s=100);power"}) {
    CAPTURE(features);
    const RunResult run = test::RunOf("fcfs(overtake=true)", Three(features));
    REQUIRE(run.series.Find<MonitoringState>() != nullptr);
    const MonitoringState& m = *run.series.Find<MonitoringState>();
    // The run ends at 250 s: samples at 100 s and 200 s.
    CHECK(m.time == std::vector<double>{100.0, 200.0});
    // Type a is held all the time. Type b: 40 s to 110 s, so 60 of the first 100 s and 10 of the second.
    CHECK(m.utilization == std::vector<double>{1.0, 0.6, 1.0, 0.1});
    CHECK(m.memory_gb == std::vector<double>{24.0, 6.0, 24.0, 0.0});
    // 2 x 110 W + 0.6 x 25 + 0.4 x 5 = 237 W, then 220 + 2.5 + 4.5 = 227 W.
    CHECK(m.watts[0] == Approx(237.0).epsilon(1e-12));
    CHECK(m.watts[1] == Approx(227.0).epsilon(1e-12));
    CHECK(m.waiting == std::vector<double>{1.0, 0.0});
    CHECK(m.waiting_gpus == std::vector<double>{2.0, 0.0});
    CHECK(m.running == std::vector<double>{2.0, 1.0});
    // At 100 s: job 0 has had all of 100 s, job 1 all of 60 s, job 2 none of 40 s: shares 1, 1, 0, so 4 / (3
    // x 2). At 200 s job 2 alone: 1.
    CHECK(m.fairness[0] == Approx(2.0 / 3.0).epsilon(1e-12));
    CHECK(m.fairness[1] == 1.0);
    CHECK(m.temperature_c == std::vector<double>{0.0, 0.0});
    CHECK(m.MeanUtilization() == Approx(2.1 / 3.0));
    CHECK(m.MeanUtilization(1) == Approx(2.6 / 3.0));
  }
}

// One GPU is away for longer than 10,000 samples: whoever waits for it waits on.
TEST_CASE("monitoring: whoever looks changes nothing: no run is given up, and no round begun") {
  const ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 300}, {50, 300}, {60, 300}});
  for (const char* clock : {"event", "rounds(360)"}) {
    CAPTURE(clock);
    const auto played = [&](const std::string& features) {
      Simulator sim(test::With(data, features + "failures(mtbf_h=0,events=100:20000:gpu:a/0)", clock));
      int decisions = 0;
      const std::unique_ptr<Scheduler> scheduler = test::Make("fcfs");
      scheduler->Reset(sim.View(Knowledge::kOracle));
      for (Decision decision; sim.AdvanceToDecision(); ++decisions) {
        decision.Clear();
        scheduler->Decide(sim.View(Knowledge::kOracle), decision);
        REQUIRE(sim.Apply(decision).ok());
      }
      return std::make_tuple(sim.finished(), sim.signature(), decisions, sim.state().completion);
    };
    const auto unwatched = played("");
    CHECK(std::get<0>(unwatched));
    CHECK(played("monitoring(interval_s=1);") == unwatched);
    CHECK(played("monitoring(interval_s=250);") == unwatched);
  }
}

TEST_CASE("monitoring: the hottest GPU is shown") {
  // Three GPUs idle at 10 / 110 of 55 K = 5 K above 20 C, or 11 K (5 / 25); after 20 time constants the
  // busy ones are at 75 C.
  const RunResult run = test::RunOf(
      "fcfs(overtake=true)",
      Three("monitoring(interval_s=100);power(heat=true,ambient_c=20,rise_c=55,time_constant_s=5)"));
  CHECK(run.series.Find<MonitoringState>()->temperature_c[0] == Approx(75.0).epsilon(1e-8));
}

TEST_CASE("monitoring: the event file has the series") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "events.h5";
  const Scenario scenario = Three("monitoring(interval_s=100)");
  const RunResult run = test::RunOf("fcfs(overtake=true)", scenario);
  WriteEvents(run, scenario, "fcfs", "", path);
  const h5::Reader in(path, "events", 1);
  CHECK(in.Array<double>("monitoring/time") == run.series.Find<MonitoringState>()->time);
  std::vector<std::int64_t> shape;
  CHECK(in.Array<double>("monitoring/utilization", 4, &shape) ==
        run.series.Find<MonitoringState>()->utilization);
  CHECK(shape == std::vector<std::int64_t>{2, 2});
  for (const char* name :
       {"memory_gb", "watts", "temperature_c", "waiting", "waiting_gpus", "running", "fairness"})
    CHECK(in.Has(std::string("monitoring/") + name));
  const std::string off = folder / "off.h5";
  WriteEvents(test::RunOf("fcfs", Three("")), Three(""), "fcfs", "", off);
  CHECK_FALSE(h5::Reader(off, "events", 1).Has("monitoring/time"));
}

TEST_CASE("monitoring: bad settings are refused") {
  CHECK_THROWS_WITH(Three("monitoring(interval_s=0)"), Catch::Contains("interval_s: expected 1 to"));
  CHECK_THROWS_WITH(WithClock(Three("monitoring"), Clock::Parse("hpc")),
                    Catch::Contains("feature 'monitoring': expected clock event or rounds"));
}

}  // namespace berth
