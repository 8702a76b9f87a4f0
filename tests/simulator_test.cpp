// Hand-worked cases of the simulator: the arithmetic stands above each expectation.
#include "env/sim/simulator.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::Tiny;
using test::TinyData;

static_assert(std::is_copy_constructible_v<Simulator> && std::is_copy_assignable_v<Simulator>);

// Starts waiting jobs in order on the first type with room; never stops any.
void StartWhatFits(Simulator& simulator) {
  Decision decision;
  std::vector<int> room = simulator.state().free_gpus;
  for (int job : simulator.state().waiting) {
    const int gang = simulator.scenario().data().jobs.gang[static_cast<std::size_t>(job)];
    for (int type = 0; type < simulator.scenario().num_types(); ++type) {
      auto& free = room[static_cast<std::size_t>(type)];
      if (simulator.scenario().Rate(job, type) > 0.0 && gang <= free) {
        free -= gang;
        decision.Start(job, type);
        break;
      }
    }
  }
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(CheckInvariants(simulator) == "");
}

double DoneAt(const Simulator& simulator, int job) {
  return simulator.state().completion[static_cast<std::size_t>(job)];
}

}  // namespace

TEST_CASE("event clock: two jobs share one GPU in turn") {
  // rate 2 steps/s: job 0 takes 100/2 = 50 s from 0; job 1 arrives at 10, waits until 50, takes 30/2 = 15 s.
  Simulator simulator(Tiny({{"a", 1}}, {{2.0}}, {{0, 100}, {10, 30}}));
  while (simulator.AdvanceToDecision()) StartWhatFits(simulator);
  CHECK(simulator.finished());
  CHECK(DoneAt(simulator, 0) == 50.0);
  CHECK(DoneAt(simulator, 1) == 65.0);
  // Jobs in system: 1 over [0,10), 2 over [10,50), 1 over [50,65): 10 + 80 + 15 = 105 = sum of JCT 50 + 55.
  CHECK(simulator.JobSeconds() == 105.0);
  CHECK(simulator.BusySeconds(0) == 65.0);
}

TEST_CASE("event clock: all events of one instant are one decision point") {
  // Job 0 ends at 50 and jobs 1, 2 arrive at 50.
  Simulator simulator(Tiny({{"a", 2}}, {{2.0}}, {{0, 100}, {50, 10}, {50, 10}}));
  REQUIRE(simulator.AdvanceToDecision());
  StartWhatFits(simulator);
  REQUIRE(simulator.AdvanceToDecision());
  CHECK(simulator.now() == 50.0);
  CHECK(simulator.state().completed == std::vector<int>{0});
  CHECK(simulator.state().arrived == std::vector<int>{1, 2});
}

TEST_CASE("hpc clock: one event a decision point, arrivals first on ties") {
  Simulator simulator(Tiny({{"a", 2}}, {{2.0}}, {{0, 100}, {50, 10}, {50, 10}}, {ClockKind::kHpc}));
  REQUIRE(simulator.AdvanceToDecision());
  StartWhatFits(simulator);
  for (int arrival : {1, 2}) {
    REQUIRE(simulator.AdvanceToDecision());
    CHECK(simulator.state().arrived == std::vector<int>{arrival});
    CHECK(simulator.state().completed.empty());
  }
  REQUIRE(simulator.AdvanceToDecision());
  CHECK(simulator.now() == 50.0);
  CHECK(simulator.state().completed == std::vector<int>{0});
}

TEST_CASE("rounds clock: a job ends inside a round and its GPU waits for the boundary") {
  // Rounds of 100 s. Job 0 runs [0, 150); job 1 (arrives at 20, seen at 100) can start at 200 only and takes
  // 50 s.
  Simulator simulator(Tiny({{"a", 1}}, {{1.0}}, {{0, 150}, {20, 50}}, {ClockKind::kRounds, 100.0}));
  std::vector<double> decisions;
  while (simulator.AdvanceToDecision()) {
    decisions.push_back(simulator.now());
    StartWhatFits(simulator);
  }
  CHECK(decisions == std::vector<double>{0, 100, 200});
  CHECK(DoneAt(simulator, 0) == 150.0);
  CHECK(DoneAt(simulator, 1) == 250.0);
  CHECK(simulator.JobSeconds() == 150.0 + 230.0);
  CHECK(simulator.BusySeconds(0) == 150.0 + 50.0);
}

TEST_CASE("rounds clock: idle time is skipped to the boundary after the next arrival") {
  Simulator simulator(
      Tiny({{"a", 1}}, {{1.0}}, {{0, 10}, {1010, 10}, {1100, 10}}, {ClockKind::kRounds, 100.0}));
  std::vector<double> decisions;
  while (simulator.AdvanceToDecision()) {
    decisions.push_back(simulator.now());
    StartWhatFits(simulator);
  }
  // Arrivals at 0, 1010 and 1100: boundaries 0, (100 after job 0), 1100 (both arrived), 1200 (job 1 done).
  CHECK(decisions == std::vector<double>{0, 100, 1100, 1200});
}

TEST_CASE("rounds clock: what ran in a round is listed, whether it is read or not") {
  // All start at 0 and do 1 step/s: within the round of 100 s jobs 0 and 2 end, job 3 at its end, job 1 runs
  // on.
  Simulator simulator(
      Tiny({{"a", 4}}, {{1.0}}, {{0, 30}, {0, 250}, {0, 60}, {0, 100}}, {ClockKind::kRounds, 100.0}));
  const auto jobs = [](const Simulator& of) {
    std::vector<int> listed;
    for (const Segment& segment : of.View(Knowledge::kNone).segments()) {
      CHECK(segment.finish == of.now() - 100.0 + segment.seconds);
      CHECK(segment.completed == (of.state().phase[static_cast<std::size_t>(segment.job)] == JobPhase::kDone));
      listed.push_back(segment.job);
    }
    return listed;
  };
  REQUIRE(simulator.AdvanceToDecision());
  StartWhatFits(simulator);
  REQUIRE(simulator.AdvanceToDecision());
  Simulator unread = simulator;
  CHECK(jobs(simulator) == std::vector<int>{1, 3, 2, 0});
  CHECK(simulator.state().segments[2].seconds == 60.0);
  StartWhatFits(unread);
  CHECK(jobs(unread).empty());
  for (Simulator* each : {&simulator, &unread}) {
    REQUIRE(each->AdvanceToDecision());
    CHECK(jobs(*each) == std::vector<int>{1});
  }
}

TEST_CASE("a job that moves again and again ends when its work is done") {
  // 1 step/s on either type, and moves cost nothing: 30,050 s in all, beside one that ends on the way and one
  // that stays.
  for (const Clock& clock : {Clock{ClockKind::kRounds, 100.0}, Clock{ClockKind::kEvent}}) {
    Simulator simulator(
        Tiny({{"a", 3}, {"b", 2}}, {{1.0, 1.0}}, {{0, 30050}, {0, 15020}, {0, 20001}}, clock));
    REQUIRE(simulator.AdvanceToDecision());
    StartWhatFits(simulator);
    do {
      Decision decision;
      for (int job : simulator.state().running)
        if (job != 2) decision.Move(job, 1 - simulator.state().on_type[static_cast<std::size_t>(job)]);
      decision.wake_at = simulator.now() + 100.0;
      REQUIRE(simulator.Apply(decision).ok());
    } while (simulator.AdvanceToDecision());
    CHECK(DoneAt(simulator, 0) == 30050.0);
    CHECK(DoneAt(simulator, 1) == 15020.0);
    CHECK(DoneAt(simulator, 2) == 20001.0);
  }
}

TEST_CASE("reference rounds: whole steps, rounds as long as their longest job") {
  // 360 s rounds. Job 0 at 0.7 steps/s: 0.7 * 360 is 251.99... in doubles, so int() gives 251 steps, 251 /
  // 0.7 = 358.57 s; of 400 steps 149 are left for round 2.
  Simulator simulator(Tiny({{"a", 1}}, {{0.7}}, {{0, 400}}, {ClockKind::kReferenceRounds}));
  REQUIRE(simulator.AdvanceToDecision());
  StartWhatFits(simulator);
  REQUIRE(simulator.AdvanceToDecision());
  CHECK(simulator.now() == 251 / 0.7);
  CHECK(simulator.state().steps_done[0] == 251.0);
  StartWhatFits(simulator);
  REQUIRE_FALSE(simulator.AdvanceToDecision());
  CHECK(DoneAt(simulator, 0) == 251 / 0.7 + 149 / 0.7);
}

TEST_CASE("reference rounds: arrivals are admitted at round ends only") {
  Simulator simulator(Tiny({{"a", 2}}, {{1.0}}, {{0, 720}, {10, 360}}, {ClockKind::kReferenceRounds}));
  REQUIRE(simulator.AdvanceToDecision());
  StartWhatFits(simulator);
  REQUIRE(simulator.AdvanceToDecision());
  CHECK(simulator.now() == 360.0);
  CHECK(simulator.state().arrived == std::vector<int>{1});
}

TEST_CASE("preemption keeps progress and charges checkpoint, restore and migration") {
  // Job 0 (100 steps) runs on a at 1 step/s over [0, 40), is stopped, and restarts on b (2 steps/s) at 50:
  // overhead 3 + 2 + 5 = 10 s, then 60 / 2 = 30 s: done at 90.
  ScenarioData data =
      TinyData({{"a", 1}, {"b", 1}}, {{1.0, 2.0}, {1.0, 0.0}}, {{0, 100}, {40, 10, 1}, {50, 10, 1}});
  data.costs = {3.0, 2.0, 5.0};
  Simulator simulator{Scenario(data)};
  Decision decision;
  REQUIRE(simulator.AdvanceToDecision());
  decision.Start(0, 0);
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  decision.Clear();
  decision.Start(1, 0);  // named before the stop that frees its GPU
  decision.Stop(0);
  REQUIRE(simulator.Apply(decision).ok());
  CHECK(simulator.state().steps_done[0] == 40.0);
  REQUIRE(simulator.AdvanceToDecision());  // t = 50: job 1 done and job 2 here
  CHECK(simulator.now() == 50.0);
  decision.Clear();
  decision.Start(0, 1);
  decision.Start(2, 0);
  REQUIRE(simulator.Apply(decision).ok());
  while (simulator.AdvanceToDecision()) REQUIRE(simulator.Apply({}).ok());
  CHECK(DoneAt(simulator, 0) == 90.0);
  CHECK(simulator.state().preemptions[0] == 1);
  CHECK(simulator.state().AttainedSeconds(0) == 80.0);  // [0, 40) and [50, 90)
}

TEST_CASE("reference rounds: what a start costs holds the GPUs for as many rounds as it takes") {
  // Job 0 (720 steps at 1 step/s) runs round 1, is stopped for round 2 and restarts with a restore of 800 s:
  // it is held over [720, 1520): two whole rounds, then 80 s of the third, in which 280 steps fit; 80 are
  // left for the fourth.
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 720}, {360, 360}}, {ClockKind::kReferenceRounds});
  data.costs.restore_s = 800.0;
  Simulator simulator{Scenario(data)};
  const auto decide = [&](auto&& fill) {
    REQUIRE(simulator.AdvanceToDecision());
    Decision decision;
    fill(decision);
    REQUIRE(simulator.Apply(decision).ok());
  };
  decide([](Decision& d) { d.Start(0, 0); });
  decide([](Decision& d) { d.Stop(0), d.Start(1, 0); });
  decide([](Decision& d) { d.Start(0, 0); });
  for (double done : {360.0, 360.0, 640.0}) {
    decide([](Decision&) {});
    CHECK(simulator.state().steps_done[0] == done);
  }
  CHECK_FALSE(simulator.AdvanceToDecision());
  CHECK(DoneAt(simulator, 0) == 720.0 + 3 * 360.0 + 80.0);
}

TEST_CASE("a slice of a scenario begins at time 0 and keeps the rest of its jobs") {
  ScenarioData data = TinyData({{"a", 2}}, {{1.0}}, {{0, 10}, {5, 20}, {7, 30}, {9, 40}});
  data.jobs.deadline = {kNever, 25, 17, kNever};
  data.jobs.demand = {1, 2, 3, 4, 5, 6, 7, 8};
  const ScenarioData cut = Slice(Scenario(data), 1, 3).data();
  CHECK(cut.jobs.arrival == std::vector<double>{0, 2});
  CHECK(cut.jobs.deadline == std::vector<double>{20, 12});
  CHECK(cut.jobs.total_steps == std::vector<double>{20, 30});
  CHECK(cut.jobs.demand == std::vector<double>{3, 4, 5, 6});
  CHECK(cut.jobs.id == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("illegal decisions name their rule and change nothing") {
  const Scenario scenario = Tiny({{"a", 2}, {"b", 1}}, {{1.0, 0.0}}, {{0, 10, 0, 2}, {0, 10}, {5, 10}});
  Simulator simulator(scenario);
  REQUIRE(simulator.AdvanceToDecision());
  const std::uint64_t before = simulator.signature();
  const auto rule = [&](auto&& fill) {
    Decision decision;
    fill(decision);
    const ApplyResult result = simulator.Apply(decision);
    CHECK(Explain(result, decision, simulator) != "legal");
    CHECK(simulator.signature() == before);
    CHECK(CheckInvariants(simulator) == "");
    return result.rule;
  };
  CHECK(rule([](Decision& d) { d.Start(9, 0); }) == Rule::kUnknownJob);
  CHECK(rule([](Decision& d) { d.Start(2, 0); }) == Rule::kNotArrived);
  CHECK(rule([](Decision& d) { d.Stop(0); }) == Rule::kNotRunning);
  CHECK(rule([](Decision& d) { d.Start(0, 7); }) == Rule::kUnknownType);
  CHECK(rule([](Decision& d) { d.Start(1, 1); }) == Rule::kCannotRun);
  CHECK(rule([](Decision& d) { d.Start(0, 0), d.Start(1, 0); }) == Rule::kNoRoom);
  CHECK(rule([](Decision& d) { d.Start(1, 0), d.Start(1, 0); }) == Rule::kTwice);
  CHECK(rule([](Decision& d) { d.Start(1, 0, std::vector<int>{2}); }) == Rule::kDeviceOfOtherType);
  CHECK(rule([](Decision& d) { d.Start(0, 0, std::vector<int>{1}); }) == Rule::kWrongDeviceCount);
  CHECK(rule([](Decision& d) { d.Start(0, 0, std::vector<int>{1, 1}); }) == Rule::kDeviceBusy);
}

TEST_CASE("explicit devices are taken, others get the lowest-numbered free ones") {
  Simulator simulator(Tiny({{"a", 4}}, {{1.0}}, {{0, 10}, {0, 10, 0, 2}}));
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  decision.Start(1, 0);
  decision.Start(0, 0, std::vector<int>{1});
  REQUIRE(simulator.Apply(decision).ok());
  CHECK(simulator.state().Devices(0)[0] == 1);
  CHECK(simulator.state().Devices(1)[0] == 0);
  CHECK(simulator.state().Devices(1)[1] == 2);
}

TEST_CASE("a scheduler that starts nothing is reported as stalled") {
  Simulator simulator(Tiny({{"a", 1}}, {{1.0}}, {{0, 10}}));
  REQUIRE(simulator.AdvanceToDecision());
  REQUIRE(simulator.Apply({}).ok());
  CHECK_FALSE(simulator.AdvanceToDecision());
  CHECK(simulator.stalled());
  CHECK_FALSE(simulator.finished());
}

TEST_CASE("a wake-up is a decision point of its own") {
  Simulator simulator(Tiny({{"a", 1}}, {{1.0}}, {{0, 10}}));
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  decision.wake_at = 7.0;
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  CHECK(simulator.now() == 7.0);
}

TEST_CASE("copies of a simulator are independent") {
  Simulator first(Tiny({{"a", 1}}, {{1.0}}, {{0, 10}, {3, 10}}));
  REQUIRE(first.AdvanceToDecision());
  Simulator second = first;
  while (first.AdvanceToDecision()) StartWhatFits(first);
  CHECK(second.now() == 0.0);
  StartWhatFits(second);
  while (second.AdvanceToDecision()) StartWhatFits(second);
  CHECK(DoneAt(second, 1) == 20.0);
}

TEST_CASE("a blind view does not tell the future") {
  Simulator simulator(Tiny({{"a", 1}}, {{2.0}}, {{0, 100}, {10, 30}}));
  REQUIRE(simulator.AdvanceToDecision());
  StartWhatFits(simulator);
  REQUIRE(simulator.AdvanceToDecision());
  const ClusterView oracle = simulator.View(Knowledge::kOracle);
  CHECK(oracle.AttainedSeconds(0) == 10.0);
  CHECK(oracle.AttainedSteps(0) == 20.0);
  CHECK(oracle.RemainingSteps(0) == 80.0);
  CHECK(oracle.ProgressOf(0).Remaining(15.0) == 70.0);
  CHECK(oracle.RemainingSeconds(0, 0) == 40.0);
  const Scenario guess = WithKnowledge(simulator.scenario(), Knowledge::kEstimate, 0.5);
  CHECK(guess.EstimateFactor(0) != 1.0);
}

TEST_CASE("a round takes time, and ends") {
  for (const ClockKind kind : {ClockKind::kEvent, ClockKind::kRounds}) {
    for (const double round_s : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
      CAPTURE(static_cast<int>(kind), round_s);
      ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 10}});
      data.clock.kind = kind, data.clock.round_s = round_s;
      CHECK_THROWS_WITH(Scenario(std::move(data)), Catch::Contains("expected a round of more than 0 seconds"));
    }
  }
}

TEST_CASE("metrics of a run by hand") {
  // As the first case: JCT 50 and 55, waits 0 and 40, run times alone 50 and 15: slowdowns 1 and 55 / 15.
  Simulator simulator(Tiny({{"a", 1}}, {{2.0}}, {{0, 100}, {10, 30}}));
  while (simulator.AdvanceToDecision()) StartWhatFits(simulator);
  const Metrics m = Measure(simulator, {});
  CHECK(m.jobs == 2);
  CHECK(m.mean_jct_s == 52.5);
  CHECK(m.p50_jct_s == 52.5);
  CHECK(m.p99_jct_s == Approx(50.0 + 0.99 * 5.0));
  CHECK(m.max_wait_s == 40.0);
  CHECK(m.mean_slowdown == Approx((1.0 + 55.0 / 15.0) / 2.0));
  CHECK(m.jain == Approx((1.0 + 15.0 / 55.0) * (1.0 + 15.0 / 55.0) / (2.0 * (1.0 + 15.0 * 15.0 / (55.0 * 55.0)))));
  CHECK(m.makespan_s == 65.0);
  CHECK((m.preemptions_per_job == 0.0 && m.interruptions_per_job == 0.0 && m.lost_work_h == 0.0));
  CHECK(m.utilization == 1.0);
  CHECK(m.mean_jobs_in_system == Approx(105.0 / 65.0));
  // rho of job 0: 90 job-seconds in its life of 50 s: m = 1.8, 1 / 1.8 of the GPU: 50 / (100 / (2 / 1.8)).
  // rho of job 1: 40 * 2 + 15 = 95 job-seconds in 55 s: m = 95 / 55: 55 / (30 / (2 * 55 / 95)).
  const double rho0 = 50.0 / (100.0 / (2.0 / 1.8)), rho1 = 55.0 / (30.0 / (2.0 * 55.0 / 95.0));
  CHECK(m.mean_ftf == Approx((rho0 + rho1) / 2.0));
  CHECK(m.max_ftf == Approx(std::max(rho0, rho1)));
}

}  // namespace berth
