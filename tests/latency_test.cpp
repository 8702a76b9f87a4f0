// Decisions that take effect late, and at a cadence: by hand, against the plain simulator, and what events
// overtake.
#include "env/features/latency/latency.hpp"

#include <algorithm>

#include "env/base/rng.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/strict_order.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::Strict;
using test::With;

struct Played {
  std::vector<double> asked, completion;
  std::uint64_t signature = 0;
  std::int64_t dropped = 0;
};
Played Play(const Scenario& scenario) {
  Simulator sim(scenario);
  Played played;
  Decision decision;
  while (sim.AdvanceToDecision()) {
    played.asked.push_back(sim.now());
    decision.Clear();
    Strict(sim, decision);
    REQUIRE(sim.Apply(decision).ok());
    const std::string violation = CheckInvariants(sim);
    REQUIRE(violation.empty());
  }
  REQUIRE(sim.finished());
  played.completion = sim.state().completion;
  played.signature = sim.signature();
  if (sim.state().features.Find<LatencyState>())
    played.dropped = sim.state().features.Find<LatencyState>()->dropped;
  return played;
}

}  // namespace

// One GPU, 10 s of latency. A (arrives 0, 20 s): decided at 0, runs 10-30. B (arrives 5, 20 s): the scheduler
// is busy until 10, is asked then, sees no room; at 30 A ends, B is decided and runs 40-60. C (arrives 100, 5
// s): runs 110-115.
TEST_CASE("latency: a decision takes effect late, by hand") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 20}, {5, 20}, {100, 5}});
  const Played played = Play(With(data, "latency(seconds=10)"));
  CHECK(played.completion == std::vector<double>{30, 60, 115});
  CHECK(played.asked == std::vector<double>{0, 10, 30, 60, 100});
  CHECK(played.dropped == 0);
}

// Periodic, every 50 s, at once: A decided at 0, runs 0-20; B (5) at 50, runs 50-70; C (100) at 100 to 105.
// Every tick is a decision. Both: B starts when A ends, at 20.
TEST_CASE("latency: cadences, by hand") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 20}, {5, 20}, {100, 5}});
  const Played periodic = Play(With(data, "latency(cadence=periodic,period_s=50)"));
  CHECK(periodic.completion == std::vector<double>{20, 70, 105});
  CHECK(periodic.asked == std::vector<double>{0, 50, 100});
  const Played both = Play(With(data, "latency(cadence=both,period_s=50)"));
  CHECK(both.completion == std::vector<double>{20, 40, 105});
  CHECK(both.asked == std::vector<double>{0, 5, 20, 40, 50, 100});
  // With 60 s on top: the tick at 50 comes while the scheduler is busy, so it is asked at 60, when A starts
  // (to 80) and leaves no room; at 120, where B is decided, to run 180-200; at 180 there is no room for C; at
  // 240 C is decided, to run 300-305.
  const Played late = Play(With(data, "latency(cadence=periodic,period_s=50,seconds=60)"));
  CHECK(late.asked == std::vector<double>{0, 60, 120, 180, 240, 300});
  CHECK(late.completion == std::vector<double>{80, 200, 305});
}

// Multiples of 33.3 or 1.1 divided by it round down: the next tick was this one, for ever.
TEST_CASE("latency: a period that is no whole number comes to the next tick, by hand") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 20}, {5, 20}, {3000, 5}});
  for (const double period : {33.3, 1.1, 7.3}) {
    CAPTURE(period);
    const Played played = Play(With(data, Join("latency(cadence=periodic,period_s=", period, ")")));
    for (std::size_t tick = 0; tick < played.asked.size(); ++tick)
      CHECK(played.asked[tick] == static_cast<double>(tick) * period);
    const auto first = std::lower_bound(played.asked.begin(), played.asked.end(), 3000.0);
    REQUIRE(first != played.asked.end());
    CHECK(*first < 3000.0 + period);
    CHECK(played.completion[2] == *first + 5.0);
  }
}

// Rounds of 100 s, latency 150: decided at 0, in effect at the first boundary then, 200. A (250 s): 200-450.
// B (arrives 0 too) sees room at 500 first: the scheduler is asked at 0, 200, 400 (no room), 600 -> B runs
// from 800 on.
TEST_CASE("latency: under rounds it is over at the first boundary then") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 250}, {0, 10}});
  const Played played = Play(With(data, "latency(seconds=150)", "rounds(100)"));
  CHECK(played.completion == std::vector<double>{450, 810});
  CHECK(played.asked == std::vector<double>{0, 200, 400, 600, 800});
}

// One GPU, launches of 10 s: A (arrives 0, 20 s) holds it 0-30. B (5) is decided at 30, not after a busy
// scheduler, and is done at 60; C (100, 5 s) at 115. Two GPUs: launches do not wait for each other.
TEST_CASE("latency: a launch holds the GPUs of each start, by hand") {
  const Played one =
      Play(With(test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 20}, {5, 20}, {100, 5}}), "latency(launch_s=10)"));
  CHECK(one.completion == std::vector<double>{30, 60, 115});
  CHECK(one.asked == std::vector<double>{0, 5, 30, 60, 100});
  const ScenarioData two = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 20}, {5, 20}});
  CHECK(Play(With(two, "latency(launch_s=10)")).completion == std::vector<double>{30, 35});
  // A first start loads nothing of a checkpoint, but is launched.
  CHECK(Play(With(two, "latency(launch_s=10);checkpoints(cold_start_s=3)")).completion ==
        std::vector<double>{33, 38});
}

// Two GPUs, launches of 10 s. A (0, 100 s) holds one until 110, when B (5, both GPUs, 50 s) is to start. C (5) may run before it for 95 s: it
// would hold its GPU until 110. For 96 s it waits until B has gone.
TEST_CASE("latency: who backfills counts its launch and what is left of others', by hand") {
  for (const char* rule : {"easy", "conservative"}) {
    CAPTURE(rule);
    for (const double seconds : {95.0, 96.0}) {
      const Scenario scenario =
          With(test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 100}, {5, 50, 0, 2}, {5, seconds}}), "latency(launch_s=10)");
      CHECK(test::Ends(rule, scenario) == std::vector<double>{110, 170, seconds == 95.0 ? 110.0 : 276.0});
    }
  }
}

// Two GPUs; A and B (2 GPUs) ... at 0 A is started for 10. GPU 0 fails at 5: of the decision only room for
// one is left, so the second start is dropped, and decided anew at 10.
TEST_CASE("latency: entries that events have overtaken are dropped and counted") {
  const ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 20}, {0, 20}});
  const Played played = Play(With(data, "latency(seconds=10);failures(mtbf_h=0,events=5:25:gpu:v100/0)"));
  CHECK(played.dropped == 1);
  // The first runs 10-30 on GPU 1. Asked at 10: no room; at 25 GPU 0 is back: decided, runs 35-55.
  CHECK(played.completion == std::vector<double>{30, 55});
  CHECK(played.asked == std::vector<double>{0, 10, 25, 35});
}

TEST_CASE("latency: none is the plain simulator, bit for bit") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Stream draw(seed, Purpose::kTest);
    std::vector<test::TinyJob> jobs;
    double now = 0.0;
    for (int i = 0; i < 20; ++i) {
      jobs.push_back({now, 10.0 + 30.0 * draw.Uniform(), 0, 1 << draw.Below(3)});
      now += 20.0 * draw.Uniform();
    }
    const ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}}, jobs);
    for (const char* clock : {"event", "rounds(30)"}) {
      const Played plain = Play(With(data, "", clock)), none = Play(With(data, "latency", clock));
      CHECK(plain.signature == none.signature);
      CHECK(plain.asked == none.asked);
      // A period beyond the end adds its first tick alone, and that is the first arrival.
      const Played both = Play(With(data, "latency(cadence=both,period_s=100000)", clock));
      CHECK(plain.signature == both.signature);
    }
  }
}

// Whatever the latency, the cadence, failures and checkpoints: every job completes once, nothing breaks.
TEST_CASE("latency: with failures and checkpoints all jobs complete") {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    Stream draw(seed, Purpose::kTest);
    std::vector<test::TinyJob> jobs;
    double now = 0.0;
    for (int i = 0; i < 15; ++i) {
      jobs.push_back({now, 600.0 + 3000.0 * draw.Uniform(), 0, 1 << draw.Below(3)});
      now += 900.0 * draw.Uniform();
    }
    ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}}, jobs);
    data.seed = seed;
    for (const char* clock : {"event", "rounds(60)"}) {
      for (const char* cadence : {"events", "periodic", "both"}) {
        const Played played =
            Play(With(data,
                      Join("latency(seconds=", draw.Below(600), ",cadence=", cadence,
                           ",period_s=300);failures(mtbf_h=8,repair_h=0.3);checkpoints(interval=300,gb=20)"),
                      clock));
        for (double end : played.completion) CHECK(end != kNever);
      }
    }
  }
}

TEST_CASE(
    "latency: bad settings are refused in one line, and the invariant sees a decision that is overdue") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 20}});
  CHECK_THROWS_WITH(With(data, "latency(cadence=period)"), Catch::Contains("did you mean 'periodic'"));
  CHECK_THROWS_WITH(With(data, "latency(seconds=-1)"), Catch::Contains("seconds"));
  CHECK_THROWS_WITH(With(data, "latency", "hpc"), Catch::Contains("expected clock event or rounds"));
  Simulator sim(With(data, "latency(seconds=10)"));
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  Strict(sim, decision);
  REQUIRE(sim.Apply(decision).ok());
  SimState state = sim.state();
  const std::vector<double> busy = {0.0};
  LatencyState& own = *state.features.Find<LatencyState>();
  CHECK(own.Violation({sim.scenario(), state, busy}).empty());
  own.effect_at = -1.0;
  CHECK_FALSE(own.Violation({sim.scenario(), state, busy}).empty());
}

}  // namespace berth
