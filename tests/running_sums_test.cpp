// Sums over jobs that rewards are made of, against their definitions and by hand: of jobs that are turned
// away, that wait for others, and that do neither.
#include "env/gym/running_sums.hpp"

#include <algorithm>

#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::With;

// From the begin on, and begun at this very decision point.
void CheckSums(const Simulator& simulator, const RunningSums& followed) {
  const Scenario& scenario = simulator.scenario();
  const JobTable& jobs = scenario.data().jobs;
  double slowdown = 0.0, demand = 0.0;
  int misses = 0;
  for (int job = 0; job < simulator.arrived_jobs(); ++job) {
    const auto j = static_cast<std::size_t>(job);
    const double until = std::min(simulator.LeftAt(job), simulator.now()), seconds = until - jobs.arrival[j];
    slowdown += seconds / std::max(jobs.total_steps[j] / scenario.BestRate(job), 10.0);
    demand += seconds * jobs.gang[j];
    const bool turned_away = simulator.state().phase[j] == JobPhase::kRejected;
    if (!jobs.deadline.empty() && jobs.deadline[j] != kNever) misses += turned_away || until > jobs.deadline[j];
  }
  RunningSums begun;
  begun.Begin(simulator);
  for (const RunningSums* sums : {&followed, static_cast<const RunningSums*>(&begun)}) {
    CHECK(sums->slowdown() == Approx(slowdown).margin(1e-9));
    CHECK(sums->demand() == Approx(demand).margin(1e-9));
    CHECK(sums->misses() == misses);
  }
}

}  // namespace

TEST_CASE("running sums: who is turned away is in the system no longer") {
  // Jobs 0 and 1, which waits for 0, go at 0, and 2, which waits for 1, as it arrives at 5. Job 3 runs from 6
  // to 9. The deadline of job 0 passes before the next decision point.
  ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {0, 10}, {5, 10}, {6, 3}});
  data.jobs.deadline = {3.0, kNever, 20.0, 9.0};
  Simulator simulator(With(std::move(data), "stages(after=1>0:2>1)"));
  RunningSums sums;
  sums.Begin(simulator);
  REQUIRE(simulator.AdvanceToDecision());
  sums.Observe(simulator);
  Decision decision;
  decision.Reject(0);
  REQUIRE(simulator.Apply(decision).ok());
  while (simulator.AdvanceToDecision()) {
    sums.Observe(simulator);
    CheckSums(simulator, sums);
    decision.Clear();
    if (!simulator.state().waiting.empty()) decision.Start(3, 0);
    REQUIRE(simulator.Apply(decision).ok());
  }
  sums.Observe(simulator);
  CheckSums(simulator, sums);
  CHECK(sums.slowdown() == Approx(0.3));
  CHECK(sums.demand() == Approx(3.0));
  CHECK(sums.misses() == 2);
}

TEST_CASE("running sums: who waits for others is in the system from its arrival on") {
  // Two GPUs: 1 and 2 need 0; 3 needs both. They end at 10, 25, 30 and 35. Deadlines pass at 12 and,
  // of a job that is held back then, at 8.
  for (const char* clock : {"event", "rounds(5)"}) {
    CAPTURE(clock);
    ScenarioData data = test::TinyData({{"a", 2}}, {{1.0}}, {{0, 10}, {0, 15}, {0, 20}, {0, 5}});
    data.jobs.deadline = {kNever, 12.0, 30.0, 8.0};
    Simulator simulator(With(std::move(data), "stages(after=1>0:2>0:3>1:3>2)", clock));
    RunningSums sums;
    sums.Begin(simulator);
    Decision decision;
    while (simulator.AdvanceToDecision()) {
      sums.Observe(simulator);
      CheckSums(simulator, sums);
      CHECK(sums.demand() == Approx(simulator.JobSeconds()).margin(1e-9));  // all need one GPU
      CHECK(sums.misses() == (simulator.now() > 8.0 ? 1 : 0) + (simulator.now() > 12.0 ? 1 : 0));
      decision.Clear();
      for (int job : simulator.state().waiting) decision.Start(job, 0);
      REQUIRE(simulator.Apply(decision).ok());
    }
    sums.Observe(simulator);
    CheckSums(simulator, sums);
    CHECK(sums.demand() == Approx(100.0));
    CHECK(sums.slowdown() == Approx(10 / 10.0 + 25 / 15.0 + 30 / 20.0 + 35 / 10.0));
    CHECK(sums.misses() == 2);
  }
}

TEST_CASE("running sums: at every decision point of random runs they are what the jobs say") {
  for (const std::string clock : {"event", "hpc", "rounds(7)"}) {
    for (const char* features : {"", "stages(depends=0.4)"}) {
      if (clock == "hpc" && *features != '\0') continue;  // it has none
      CAPTURE(clock, features);
      Stream random(5, Purpose::kTest);
      std::vector<test::TinyJob> jobs;
      for (double at = 0.0; jobs.size() < 60; at += random.Exponential(8.0))
        jobs.push_back({at, random.Uniform(1.0, 40.0), 0, random.Uniform() < 0.3 ? 2 : 1});
      ScenarioData data = test::TinyData({{"a", 3}}, {{1.0}}, jobs);
      for (const test::TinyJob& job : jobs)
        data.jobs.deadline.push_back(random.Uniform() < 0.2 ? kNever : job.arrival + random.Uniform(0.0, 80.0));
      Simulator simulator(With(std::move(data), features, clock));
      RunningSums sums;
      sums.Begin(simulator);
      Decision decision;
      while (simulator.AdvanceToDecision()) {
        sums.Observe(simulator);
        CheckSums(simulator, sums);
        decision.Clear();
        int room = simulator.state().free_gpus[0];
        for (int job : simulator.state().waiting) {
          const int gang = jobs[static_cast<std::size_t>(job)].gang;
          if (random.Uniform() < 0.2) {
            decision.Reject(job);
          } else if (gang <= room) {
            decision.Start(job, 0);
            room -= gang;
          }
        }
        REQUIRE(simulator.Apply(decision).ok());
      }
      sums.Observe(simulator);
      CheckSums(simulator, sums);
      CHECK(simulator.finished());
      CHECK(sums.misses() > 0);
    }
  }
}

}  // namespace berth
