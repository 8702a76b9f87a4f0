// Each queue rule on a case small enough to work by hand: the arithmetic stands above the expectation.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "baselines/queue/conservative_backfill.hpp"
#include "baselines/schedulers.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::Decisions;
using test::Log;
using test::Make;
using test::RunOf;
using test::Tiny;
using test::TinyData;

// One type of two GPUs at 1 step/s. Job 0 takes one GPU for 100 s; job 1 needs both; job 2 needs one for
// `last` s.
ScenarioData Blocked(double last) {
  return TinyData({{"a", 2}}, {{1.0}}, {{0, 100, 0, 1}, {10, 100, 0, 2}, {20, last, 0, 1}});
}

}  // namespace

TEST_CASE("fcfs: nobody overtakes the head of the queue", "[baselines]") {
  // Job 1 waits for both GPUs until 100 and ends at 200; job 2 waits behind it although a GPU is free from 20
  // on.
  CHECK(Decisions("fcfs", Scenario(Blocked(10))) == Log{"0 start 0@0", "100 start 1@0", "200 start 2@0"});
}

TEST_CASE("fcfs: where a job goes among the types with room", "[baselines]") {
  // Type a: 1 GPU at 1 step/s, b: 1 at 3, c: 2 at 2. Fastest b, then c; the roomiest is c, then on a tie
  // the faster b; the first is a.
  const auto scenario = Tiny({{"a", 1}, {"b", 1}, {"c", 2}}, {{1.0, 3.0, 2.0}}, {{0, 600}, {1, 600}});
  CHECK(Decisions("fcfs", scenario) == Log{"0 start 0@1", "1 start 1@2"});
  CHECK(Decisions("fcfs(place=roomiest)", scenario) == Log{"0 start 0@2", "1 start 1@1"});
  CHECK(Decisions("fcfs(place=first)", scenario) == Log{"0 start 0@0", "1 start 1@1"});
}

TEST_CASE("priority: weight before arrival, strict or overtaking", "[baselines]") {
  // At 20 the queue is job 1 (both GPUs, weight 1) and job 2 (one GPU, weight 5): job 2 first, and it fits.
  ScenarioData heavy_last = Blocked(10);
  heavy_last.jobs.weight = {1, 1, 5};
  CHECK(Decisions("priority", Scenario(heavy_last)) == Log{"0 start 0@0", "20 start 2@0", "100 start 1@0"});
  // With the weights the other way round job 1 leads and blocks, unless overtaking is allowed.
  ScenarioData heavy_first = Blocked(10);
  heavy_first.jobs.weight = {1, 5, 1};
  CHECK(Decisions("priority", Scenario(heavy_first)) == Log{"0 start 0@0", "100 start 1@0", "200 start 2@0"});
  CHECK(Decisions("priority(overtake=true)", Scenario(heavy_first)) ==
        Log{"0 start 0@0", "20 start 2@0", "100 start 1@0"});
}

TEST_CASE("sjf: shortest on its fastest type", "[baselines]") {
  // One GPU of type a (4 steps/s for kind 0, 1 for kind 1). Job 0 runs 0-10. Then job 1, 60 steps of kind 1,
  // needs 60 s; job 2, 100 steps of kind 0, 25 s although it has more steps: 10-35; job 1 35-95.
  const auto scenario = Tiny({{"a", 1}}, {{4.0}, {1.0}}, {{0, 40, 0}, {1, 60, 1}, {2, 100, 0}});
  CHECK(Decisions("sjf", scenario) == Log{"0 start 0@0", "10 start 2@0", "35 start 1@0"});
}

TEST_CASE("easy: a backfilled job must not delay the head", "[baselines]") {
  // The head (job 1) holds a reservation at 100. Job 2 would end at 20 + 10 = 30: it may start.
  CHECK(Decisions("easy", Scenario(Blocked(10))) == Log{"0 start 0@0", "20 start 2@0", "100 start 1@0"});
  // It may end at 100 sharp, not at 101.
  CHECK(Decisions("easy", Scenario(Blocked(80))) == Log{"0 start 0@0", "20 start 2@0", "100 start 1@0"});
  CHECK(Decisions("easy", Scenario(Blocked(81))) == Log{"0 start 0@0", "100 start 1@0", "200 start 2@0"});
  // Its user's request of 200 s counts, not the 10 s that it would really take.
  ScenarioData requested = Blocked(10);
  requested.jobs.requested_s = {std::numeric_limits<double>::quiet_NaN(), 100, 200};
  CHECK(Decisions("easy", Scenario(requested)) == Log{"0 start 0@0", "100 start 1@0", "200 start 2@0"});
  // Job 0 outruns a request of 50 s: from 50 on it may end at any moment, so nothing is backfilled before the
  // head.
  ScenarioData overrun = Blocked(10);
  overrun.jobs.arrival[2] = 60;
  overrun.jobs.requested_s = {50, 100, 10};
  CHECK(Decisions("easy", Scenario(overrun)) == Log{"0 start 0@0", "100 start 1@0", "200 start 2@0"});
}

TEST_CASE("easy: GPUs that the head leaves, and other types", "[baselines]") {
  // Three GPUs; job 0 holds two until 100. The head (two GPUs) will leave one: a job of 500 s may have it
  // now.
  CHECK(Decisions("easy", Tiny({{"a", 3}}, {{1.0}}, {{0, 100, 0, 2}, {10, 100, 0, 2}, {20, 500, 0, 1}})) ==
        Log{"0 start 0@0", "20 start 2@0", "100 start 1@0"});
  // a: 2 GPUs at 2 steps/s, b: 1 at 1. Job 0 holds an a until 100; the head needs two, which only a has: 100.
  // Job 2 (400 steps, 200 s on a) would delay it there and goes to b; job 3 (50 steps, 25 s on a) would not.
  const auto scenario = Tiny({{"a", 2}, {"b", 1}}, {{2.0, 1.0}},
                             {{0, 200, 0, 1}, {10, 100, 0, 2}, {20, 400, 0, 1}, {30, 50, 0, 1}});
  CHECK(Decisions("easy", scenario) == Log{"0 start 0@0", "20 start 2@1", "30 start 3@0", "100 start 1@0"});
}

TEST_CASE("conservative: nobody in the queue is delayed, easy only spares the head", "[baselines]") {
  // Four GPUs, three held until 100. Job 2 (two) can start at 100 and end at 200; job 3 (four) at 200, ending
  // 250; job 4 (one GPU, 1000 s) fits now and leaves the head its two GPUs, so easy starts it at 3, and job 3
  // waits until 1003. Conservatively it waits until 250.
  const auto scenario = Tiny(
      {{"a", 4}}, {{1.0}}, {{0, 100, 0, 2}, {0, 100, 0, 1}, {1, 100, 0, 2}, {2, 50, 0, 4}, {3, 1000, 0, 1}});
  CHECK(Decisions("easy", scenario) ==
        Log{"0 start 0@0", "0 start 1@0", "3 start 4@0", "100 start 2@0", "1003 start 3@0"});
  CHECK(Decisions("conservative", scenario) ==
        Log{"0 start 0@0", "0 start 1@0", "100 start 2@0", "200 start 3@0", "250 start 4@0"});
}

// Job 2 ends as job 0 does, at 1000.3 or 1001, where the head starts on both GPUs. 100.6 + 899.7 is one rounding above 1000.3.
TEST_CASE("easy, conservative: who ends as a reservation begins may start, whenever the clock began", "[baselines]") {
  for (const auto& [first, last] : {std::pair(0.3, 100.6), std::pair(1.0, 101.3)}) {
    ScenarioData data =
        test::TinyData({{"a", 2}}, {{1.0}}, {{first, 1000, 0, 1}, {first, 500, 0, 2}, {last, 899.7, 0, 1}});
    data.jobs.requested_s = {1000, 500, 899.7};
    for (const char* spec : {"easy", "conservative"}) {
      CAPTURE(first, spec);
      const std::vector<double> ends = test::Ends(spec, Scenario(data));
      CHECK(ends[2] == Approx(first + 1000.0));
      CHECK(ends[1] == Approx(first + 1500.0));
    }
  }
}

TEST_CASE("conservative: the type on which it would finish, or start, earliest", "[baselines]") {
  // a: 1 GPU at 10 steps/s, busy until 10; b: 1 at 1 step/s, free. Job 1 (1000 steps): on a 10-110, on b
  // 1-1001.
  const auto scenario = Tiny({{"a", 1}, {"b", 1}}, {{10.0, 1.0}}, {{0, 100}, {1, 1000}});
  CHECK(Decisions("conservative", scenario) == Log{"0 start 0@0", "10 start 1@0"});
  CHECK(Decisions("conservative(reserve=start)", scenario) == Log{"0 start 0@0", "1 start 1@1"});
}

TEST_CASE("availability profile: earliest starts around reservations", "[baselines]") {
  // 1 free from 0, 2 more from 10: a pair fits from 10; after [10, 20) is taken by a pair, a pair fits from
  // 20, one GPU for 15 s from 0 (1 free, then 3 - 2 = 1), two for ever from 20.
  AvailabilityProfile profile;
  profile.Reset(0.0, 1);
  profile.Release(10.0, 2);
  CHECK(profile.EarliestStart(2, 5.0) == 10.0);
  profile.Reserve(10.0, 20.0, 2);
  CHECK(profile.EarliestStart(2, 5.0) == 20.0);
  CHECK(profile.EarliestStart(1, 15.0) == 0.0);
  CHECK(profile.EarliestStart(3, 1.0) == 20.0);
  CHECK(profile.EarliestStart(4, 1.0) == kNever);
  profile.Reserve(0.0, 15.0, 1);
  CHECK(profile.EarliestStart(1, 5.0) == 15.0);
}

TEST_CASE("srpt: the pair that finishes soonest, moving who must", "[baselines]") {
  // a: 1 GPU at 2 steps/s, b: 1 at 1. Job 0, 100 steps, starts on a. At 10 it has 80 left (40 s on a, 80 on
  // b) and job 1 has 20 (10 s on a): job 1 takes a, job 0 continues on b. At 20 job 0 has 70 left, 35 s on a:
  // back, end 55.
  const auto scenario = Tiny({{"a", 1}, {"b", 1}}, {{2.0, 1.0}}, {{0, 100}, {10, 20}});
  CHECK(Decisions("srpt", scenario) == Log{"0 start 0@0", "10 move 0@1", "10 start 1@0", "20 move 0@0"});
  CHECK(RunOf("srpt", scenario).jct_s == std::vector<double>{55.0, 10.0});
  // A move that costs 50 s is not worth the 35 s it would save: at 20 staying means 70 s, moving 35 + 50.
  const auto costly =
      WithCosts(Tiny({{"a", 1}, {"b", 1}}, {{2.0, 1.0}}, {{0, 20}, {1, 100}}), {0.0, 0.0, 50.0});
  // Job 0 holds a until 10; job 1 runs on b from 1 and at 10 has 91 left: 91 s there, 45.5 + 50 s on a.
  CHECK(Decisions("srpt", costly) == Log{"0 start 0@0", "1 start 1@1"});
}

TEST_CASE("srpt: a shorter job stops a longer one", "[baselines]") {
  // One GPU: job 0 (100 s) is stopped at 10 for job 1 (10 s) and resumes at 20.
  CHECK(Decisions("srpt", Tiny({{"a", 1}}, {{1.0}}, {{0, 100}, {10, 10}})) ==
        Log{"0 start 0@0", "10 stop 0", "10 start 1@0", "20 start 0@0"});
}

TEST_CASE("las: who has had least runs, slice by slice", "[baselines]") {
  // One GPU at 1 step/s, looked at every 5 s. Job 1 (30 steps) arrives at 10 when job 0 (100) has had 10 s:
  // it runs 10-20 to draw level, and from 20 on they alternate, job 0 first: job 1 gets 25-30, 35-40, 45-50,
  // 55-60.
  const auto scenario = Tiny({{"a", 1}}, {{1.0}}, {{0, 100}, {10, 30}});
  CHECK(RunOf("las(quantum=0,slice=5)", scenario).jct_s == std::vector<double>{130.0, 50.0});
  // Without slices it keeps the GPU until its end at 40.
  CHECK(RunOf("las(quantum=0,slice=0)", scenario).jct_s == std::vector<double>{130.0, 30.0});
  // With a quantum of 1000 s both count as equal: arrival order.
  CHECK(RunOf("las(quantum=1000)", scenario).jct_s == std::vector<double>{100.0, 120.0});
}

TEST_CASE("las: service is measured on the fastest type and by the gang", "[baselines]") {
  // a: 1 GPU at 4 steps/s, b: 1 at 1. Job 0 (a) and job 1 (b) start at 0. At 8 job 0 has had 8 s' worth of a,
  // job 1 8 steps = 2 s' worth: job 1 gets a, job 0 goes to b. At 16 both have had 10: arrival order, job 0
  // back on a.
  const auto scenario =
      Tiny({{"a", 1}, {"b", 1}}, {{4.0, 1.0}}, {{0, 400}, {0, 400}}, Clock::Parse("rounds(8)"));
  Log log = Decisions("las(quantum=0)", scenario);
  REQUIRE(log.size() >= 6);
  std::sort(log.begin() + 2, log.begin() + 4);
  std::sort(log.begin() + 4, log.begin() + 6);
  CHECK(Log(log.begin(), log.begin() + 6) ==
        Log{"0 start 0@0", "0 start 1@1", "8 move 0@1", "8 move 1@0", "16 move 0@0", "16 move 1@1"});
  // Two GPUs, a gang of both and a single job from 8 on. The gang has then had 16 GPU-seconds, the single job
  // 0; at 16 it has had 8, at 24 16: arrival order, the gang again.
  const auto gangs = Tiny({{"a", 2}}, {{1.0}}, {{0, 400, 0, 2}, {8, 400, 0, 1}}, Clock::Parse("rounds(8)"));
  log = Decisions("las(quantum=0)", gangs);
  REQUIRE(log.size() >= 5);
  CHECK(Log(log.begin(), log.begin() + 5) ==
        Log{"0 start 0@0", "8 stop 0", "8 start 1@0", "24 stop 1", "24 start 0@0"});
}

TEST_CASE("random: seeded by the scenario, and never leaves room unused", "[baselines]") {
  std::vector<test::TinyJob> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back({0.0, 100.0});
  ScenarioData data = TinyData({{"a", 2}, {"b", 2}}, {{2.0, 1.0}}, jobs);
  data.seed = 1;
  const auto first = RunOf("random", Scenario(data));
  CHECK(first.signature == RunOf("random", Scenario(data)).signature);
  CHECK(std::count_if(first.events.begin(), first.events.end(), [](const Event& event) {
          return event.kind == EventKind::kStart && event.time == 0.0;
        }) == 4);
  data.seed = 2;
  CHECK(first.signature != RunOf("random", Scenario(data)).signature);
}

TEST_CASE("gavel: rounds of one GPU shared by two jobs, by hand", "[baselines][gavel]") {
  // Isolated shares: 1/2 each. Each starts with 180 s of 360: priorities equal, job 0 first (0-360). Then f =
  // 540/720 and 180/720: 0.67 against 2, job 1 (360-720). Then 540/1080 each: equal, job 0 (720-1080, done),
  // job 1 (done 1440).
  for (const char* clock : {"reference_rounds", "rounds(360)"}) {
    const auto scenario = Tiny({{"a", 1}}, {{1.0}}, {{0, 720}, {0, 720}}, Clock::Parse(clock));
    INFO(clock);
    CHECK(RunOf("gavel(objective=isolated)", scenario).jct_s == std::vector<double>{1080.0, 1440.0});
  }
}

TEST_CASE("gavel: a job that arrives after a reset waits for the next one", "[baselines][gavel]") {
  // Job 0 (1080 steps) runs from 0; the reset at 0 leaves `last reset` at 0, so the one at 360 takes in job 1
  // (360 steps, arrived at 100): equal shares, job 0 360-720, job 1 720-1080, job 0 to 1440. Job 2 (arrived
  // at 800) waits: 1080 - 360 < 1920. At 1440 nothing is left to run; only then, with no arrival left, is the
  // reset due: 1440-1800.
  for (const char* clock : {"reference_rounds", "rounds(360)"}) {
    const auto scenario = Tiny({{"a", 1}}, {{1.0}}, {{0, 1080}, {100, 360}, {800, 360}}, Clock::Parse(clock));
    INFO(clock);
    CHECK(RunOf("gavel(objective=isolated)", scenario).jct_s == std::vector<double>{1440.0, 980.0, 1000.0});
  }
}

TEST_CASE("gavel: every objective finishes every job under every clock", "[baselines][gavel]") {
  std::vector<test::TinyJob> jobs;
  for (int i = 0; i < 12; ++i) jobs.push_back({37.0 * i, 900.0 + 211.0 * (i % 5), i % 2, i % 4 == 3 ? 2 : 1});
  for (const char* clock : {"event", "hpc", "rounds(360)", "reference_rounds"}) {
    const auto scenario =
        Tiny({{"v100", 2}, {"k80", 2}}, {{3.0, 1.0}, {2.0, 1.5}}, jobs, Clock::Parse(clock));
    for (const char* objective : {"max_min", "makespan", "finish_time_fairness", "isolated", "proportional",
                                  "fifo", "water_filling", "hierarchical"}) {
      for (const char* aware : {"true", "false"}) {
        for (const char* solver : {"ipm", "simplex", "reference"}) {
          const std::string spec =
              Join("gavel(objective=", objective, ",aware=", aware, ",solver=", solver, ")");
          INFO(spec << " " << clock);
          CHECK(RunOf(spec, scenario).metrics.jobs == 12);
        }
      }
    }
    for (const char* spec :
         {"gavel(objective=makespan,compat=false)", "gavel(objective=max_sum_throughput)",
          "gavel(objective=max_throughput_per_cost)", "gavel(objective=max_throughput_per_cost,slo=keep)",
          "gavel(objective=hierarchical,cap=reference)"}) {
      INFO(spec << " " << clock);
      CHECK(RunOf(spec, scenario).metrics.jobs == 12);
    }
    // m + 1 programs an allocation: under one clock.
    if (scenario.data().clock.kind == ClockKind::kRounds) {
      CHECK(RunOf("gavel(objective=strategy_proof)", scenario).metrics.jobs == 12);
    }
    for (test::TinyJob& job : jobs) job.gang = 1;
    const auto singles = Tiny({{"v100", 2}, {"k80", 2}}, {{3.0, 1.0}, {2.0, 1.5}}, jobs, Clock::Parse(clock));
    CHECK(RunOf("gavel(objective=allox)", singles).metrics.jobs == 12);
    for (int i = 0; i < 12; ++i) jobs[static_cast<std::size_t>(i)].gang = i % 4 == 3 ? 2 : 1;
  }
}

TEST_CASE("gavel: what is not offered is refused in one line", "[baselines][gavel]") {
  CHECK_THROWS_WITH(Make("gavel(objective=max_mim)"), Catch::Contains("max_min"));
  CHECK_THROWS_WITH(Make("gavel(objective=allox,aware=false)"), Catch::Contains("expected aware=true"));
  CHECK_THROWS_WITH(Make("gavel(slo=keep)"), Catch::Contains("objective=max_min does not read it"));
  CHECK_THROWS_WITH(Make("gavle"), Catch::Contains("gavel"));
  // What AlloX asks for is the gang, though the job could run on one GPU too; before the run, not at 50 s.
  const Scenario elastic = test::With(TinyData({{"a", 4}}, {{1.0}}, {{0, 10}, {50, 10, 0, 2}}), "elasticity");
  CHECK_THROWS_WITH(CheckRunnable(elastic, *Make("gavel(objective=allox)"), "gavel"), Catch::Contains("found a gang of 2"));
  CHECK(Make("gavel")->knowledge() == Knowledge::kBlind);
  for (const char* blind : {"water_filling", "hierarchical", "isolated", "proportional", "fifo",
                            "strategy_proof", "max_sum_throughput", "max_throughput_per_cost"}) {
    CHECK(Make(Join("gavel(objective=", blind, ")"))->knowledge() == Knowledge::kBlind);
  }
  for (const char* future :
       {"makespan", "finish_time_fairness", "allox", "max_throughput_per_cost,slo=keep"}) {
    CHECK(Make(Join("gavel(objective=", future, ")"))->knowledge() == Knowledge::kEstimate);
  }
}

}  // namespace berth
