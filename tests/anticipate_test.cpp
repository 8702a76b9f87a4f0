// The scheduler that decides for the moment at which its decision takes effect.
#include <numeric>

#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "env/features/latency/latency.hpp"
#include "env/features/table.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

struct Played {
  std::vector<double> completion;
  std::int64_t dropped = 0;
  std::uint64_t signature = 0;
  int preemptions = 0;
};

Played Play(ScenarioData data, const std::string& features, const std::string& clock,
            const std::string& spec) {
  data.features = ParseFeatures(features);
  data.clock = Clock::Parse(clock);
  const SchedulerTable table = BaselineSchedulers();
  const auto scheduler = MakeScheduler(spec, std::span<const SchedulerTable>(&table, 1));
  Simulator sim{Scenario(std::move(data))};
  scheduler->Reset(sim.View(scheduler->knowledge()));
  Decision decision;
  while (sim.AdvanceToDecision()) {
    decision.Clear();
    scheduler->Decide(sim.View(scheduler->knowledge()), decision);
    const ApplyResult applied = sim.Apply(decision);
    INFO(spec << " at " << sim.now() << ": " << Explain(applied, decision, sim));
    REQUIRE(applied.ok());
    REQUIRE(CheckInvariants(sim) == "");
  }
  REQUIRE(sim.finished());
  const auto& preempted = sim.state().preemptions;
  return {sim.state().completion,
          sim.state().features.Find<LatencyState>() ? sim.state().features.Find<LatencyState>()->dropped : 0,
          sim.signature(), std::accumulate(preempted.begin(), preempted.end(), 0)};
}

ScenarioData Random(std::uint32_t seed) {
  Stream draw(seed, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int i = 0; i < 40; ++i) {
    jobs.push_back({now, 200.0 + 2000.0 * draw.Uniform(), 0, 1 << static_cast<int>(draw.Below(2))});
    now += 450.0 * draw.Uniform();
  }
  return test::TinyData({{"v100", 6}}, {{1.0}}, jobs);
}

}  // namespace

// One GPU, 10 s of latency, margin 1 s. A (0, 20 s): decided at 0, runs 10-30. B (5, 20 s) is seen at 10: A
// will not have ended at 20. The scheduler asks for 30 + 1 - 10 = 21: then A will have ended at 31, when the
// decision takes effect, so B is started on its GPU: A's stop is dropped, B runs 31-51 (fcfs: 40-60). C (100,
// 5 s) comes to an idle cluster: 110-115.
TEST_CASE("anticipate: the next job starts when the last one ends, by hand") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 20}, {5, 20}, {100, 5}});
  const Played played = Play(data, "latency(seconds=10)", "event", "anticipate(inner=fcfs)");
  CHECK(played.completion == std::vector<double>{30, 51, 115});
  CHECK(played.dropped == 1);
  CHECK(played.preemptions == 0);
}

// Rounds of 100 s, latency 150: a decision at 0 takes effect at 200. A (250 s): 200-450. B (0, 10 s): at 200
// nothing ends before 400; at 400 the decision takes effect at 600, when A will have gone: B runs 600-610
// (fcfs: 800-810, tests/latency_test.cpp).
TEST_CASE("anticipate: under rounds, by hand") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 250}, {0, 10}});
  const Played played = Play(data, "latency(seconds=150)", "rounds(100)", "anticipate(inner=fcfs)");
  CHECK(played.completion == std::vector<double>{450, 610});
  CHECK(played.dropped == 1);
}

TEST_CASE("anticipate: without latency it is its inner scheduler, to the bit") {
  for (const char* inner : {"fcfs", "srpt", "las"}) {
    for (const char* features : {"", "latency", "failures(mtbf_h=5,repair_h=0.2)"}) {
      const Played inside = Play(Random(3), features, "event", inner);
      const Played outside =
          Play(Random(3), features, "event", std::string("anticipate(inner=") + inner + ")");
      CHECK(inside.signature == outside.signature);
    }
  }
}

// Where run times are known and nothing fails no job is stopped that would not have ended, and jobs are in
// the system for less time on every workload.
TEST_CASE("anticipate: it stops nobody where it knows all, and it pays") {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    for (const char* clock : {"event", "rounds(60)"}) {
      CAPTURE(seed, clock);
      const Played late = Play(Random(seed), "latency(seconds=300)", clock, "fcfs");
      const Played ahead = Play(Random(seed), "latency(seconds=300)", clock, "anticipate(inner=fcfs)");
      CHECK(ahead.preemptions == 0);
      const auto sum = [](const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
      CHECK(sum(ahead.completion) < sum(late.completion));
    }
  }
}

}  // namespace berth
