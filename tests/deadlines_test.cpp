// Deadlines: EDF against the processor demand criterion, least laxity by hand, admission against the same
// criterion.
#include <algorithm>
#include <cmath>

#include "env/base/rng.hpp"
#include "env/gym/rewards.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using Log = std::vector<std::string>;
using test::Decisions;
using test::Ends;
using test::TinyData;

// Jobs of one GPU with whole-second times; load above or below what can be done.
ScenarioData Draw(std::uint64_t seed, int jobs, double slack) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> list;
  std::vector<double> deadline;
  double now = 0.0;
  for (int i = 0; i < jobs; ++i) {
    now += stream.Below(8);
    const double size = 1 + stream.Below(6);
    list.push_back({now, size});
    deadline.push_back(now + size + std::floor(stream.Uniform(0.0, slack)));
  }
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, list);
  data.jobs.deadline = deadline;
  return data;
}

// Baruah, Rosier & Howell 1990: on one machine with preemption all deadlines can be met if and only if for
// all s < t the jobs that arrive from s on and are due by t need at most t - s.
bool Feasible(const ScenarioData& data, const std::vector<char>& of) {
  const auto& jobs = data.jobs;
  for (std::size_t a = 0; a < of.size(); ++a) {
    for (std::size_t b = 0; b < of.size(); ++b) {
      if (of[a] == 0 || of[b] == 0) continue;
      double need = 0.0;
      for (std::size_t i = 0; i < of.size(); ++i) {
        if (of[i] != 0 && jobs.arrival[i] >= jobs.arrival[a] && jobs.deadline[i] <= jobs.deadline[b])
          need += jobs.total_steps[i];
      }
      if (need > std::max(0.0, jobs.deadline[b] - jobs.arrival[a])) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("edf: on one GPU every deadline is met whenever that is possible", "[baselines]") {
  int feasible = 0, fcfs_misses = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const ScenarioData data = Draw(seed, 8, 16.0);
    const std::vector<double> ends = Ends("edf", Scenario(data)), fcfs = Ends("fcfs", Scenario(data));
    const bool met = std::equal(ends.begin(), ends.end(), data.jobs.deadline.begin(), std::less_equal<>());
    const bool can = Feasible(data, std::vector<char>(8, 1));
    CHECK(met == can);
    feasible += can;
    fcfs_misses +=
        can && !std::equal(fcfs.begin(), fcfs.end(), data.jobs.deadline.begin(), std::less_equal<>());
  }
  CHECK(feasible > 40);
  CHECK(feasible < 160);
  CHECK(fcfs_misses > 5);
}

TEST_CASE("edf: jobs without a deadline come last, and without preemption nobody is stopped", "[baselines]") {
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {1, 5}, {2, 5}});
  data.jobs.deadline = {kNever, 30.0, 9.0};
  CHECK(Decisions("edf", Scenario(data)) == Log{"0 start 0@0", "1 stop 0", "1 start 1@0", "2 stop 1",
                                                "2 start 2@0", "7 start 1@0", "11 start 0@0"});
  CHECK(Decisions("edf(preemptive=false)", Scenario(data)) ==
        Log{"0 start 0@0", "10 start 2@0", "15 start 1@0"});
}

TEST_CASE("least_laxity: by hand", "[baselines]") {
  // At 2 job 0 (8 s left, due at 20) has a laxity of 10, job 1 (3 s, due at 12) of 7: 1 runs 2-5, though a
  // shorter job 2 with more laxity (2 s, due at 30: 26 at 2) waits until both are done. Slices of 100 s.
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {2, 3}, {2, 2}});
  data.jobs.deadline = {20.0, 12.0, 30.0};
  CHECK(Decisions("least_laxity(slice=100)", Scenario(data)) ==
        Log{"0 start 0@0", "2 stop 0", "2 start 1@0", "5 start 0@0", "13 start 2@0"});
  // edf prefers 1 too, but for deadlines 20 and 21 it keeps 0, of laxity 10, where 1 (15 s) has 4.
  data = TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {2, 15}});
  data.jobs.deadline = {20.0, 21.0};
  CHECK(Decisions("edf", Scenario(data))[1] == "10 start 1@0");
  CHECK(Decisions("least_laxity(slice=100)", Scenario(data))[1] == "2 stop 0");
  // Costs: equal laxities do not stop each other every slice. Both need 20 s and are due at 50; a stop and
  // restart cost 5. Nobody may gain 5 s of laxity on the other within a slice of 1 s; all ends.
  data = TinyData({{"a", 1}}, {{1.0}}, {{0, 20}, {0, 20}});
  data.jobs.deadline = {50.0, 50.0};
  data.costs = {2.0, 3.0, 0.0};
  const std::vector<double> ends = Ends("least_laxity(slice=1)", Scenario(data));
  CHECK(std::max(ends[0], ends[1]) < 100.0);
}

// Job 0 is in time, 1 is late. As the run is cut off, at 110 s, 2 has begun to run and 3 is still to come.
TEST_CASE("deadlines: of a run that is cut off those that may still be met do not count", "[sim]") {
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {0, 100}, {0, 100}, {500, 10}});
  data.jobs.deadline = {20.0, 30.0, 1000.0, 900.0};
  const auto rate = [&](double max_time_s) {
    RunOptions options;
    options.max_time_s = max_time_s;
    const auto fcfs = test::Make("fcfs");
    return Run(Scenario(data), *fcfs, "fcfs", options).metrics.deadline_miss_rate;
  };
  CHECK(rate(50.0) == 0.5);
  CHECK(rate(kNever) == 0.25);
  data.jobs.deadline[2] = 105.0;  // which is over by then
  CHECK(rate(50.0) == Approx(2.0 / 3.0));
}

// 0.1 + 0.2 is one rounding above 0.3: job 0 ends on its deadline. Job 1 needs 10 s and has 5.
TEST_CASE("deadlines: an end that rounding alone puts behind a deadline is on it", "[sim]") {
  REQUIRE(0.1 + 0.2 > 0.3);
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0.1, 0.2}, {50, 10}});
  data.jobs.deadline = {0.3, 55.0};
  const Scenario scenario(data);
  const auto edf = test::Make("edf");
  CHECK(Run(scenario, *edf, "edf", {}).metrics.deadline_miss_rate == 0.5);
  Simulator simulator(scenario);
  Reward reward("deadline");
  REQUIRE(simulator.AdvanceToDecision());
  reward.Begin(simulator);
  Decision decision;
  for (bool more = true; more;) {
    CHECK(reward.Running(simulator) == 0.0);
    decision.Clear();
    for (int job : simulator.View(Knowledge::kOracle).waiting()) decision.Start(job, 0);
    REQUIRE(simulator.Apply(decision).ok());
    more = simulator.AdvanceToDecision();
    reward.Observe(simulator);
  }
  CHECK(reward.Running(simulator) == 1.0);
  CHECK_FALSE(Misses(kNever, kNever));
  CHECK(Misses(kNever, 1e9));
  CHECK(Misses(1000.001, 1000.0));
}

// Job 1 is turned away at 0; its deadline, 50 s, passes before the next decision, at 100 s.
TEST_CASE("deadlines: who is turned away misses one that passes before the next decision", "[sim]") {
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 100}, {0, 100}, {100, 5}});
  data.jobs.deadline = {1000.0, 50.0, 1000.0};
  Simulator simulator{Scenario(data)};
  Reward reward("deadline");
  REQUIRE(simulator.AdvanceToDecision());
  reward.Begin(simulator);
  Decision decision;
  decision.Start(0, 0);
  decision.Reject(1);
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  REQUIRE(simulator.now() == 100.0);
  reward.Observe(simulator);
  CHECK(reward.Running(simulator) == 1.0);
}

TEST_CASE("deadline_admission: who is admitted meets the deadline, who is rejected could not",
          "[baselines]") {
  int rejected = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const ScenarioData data = Draw(seed, 25, 10.0);
    const std::vector<double> ends = Ends("deadline_admission", Scenario(data));
    std::vector<char> admitted(25, 0);
    for (std::size_t i = 0; i < 25; ++i) {
      CAPTURE(seed, i);
      admitted[i] = 1;
      if (ends[i] < kNever) {
        CHECK(ends[i] <= data.jobs.deadline[i] * (1.0 + 1e-9));
        continue;
      }
      CHECK_FALSE(Feasible(data, admitted));  // with those admitted before it
      admitted[i] = 0;
      ++rejected;
    }
  }
  CHECK(rejected > 200);
  CHECK(rejected < 2000);
  // Without deadlines nobody is rejected: by gangs and types in schedulers_conformance_test.
}

TEST_CASE("deadline_admission: the forecast is what happens on several types with gangs and costs",
          "[baselines]") {
  int met = 0, rejected = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Stream stream(seed, Purpose::kTest);
    std::vector<test::TinyJob> list;
    std::vector<double> deadline;
    double now = 0.0;
    for (int i = 0; i < 30; ++i) {
      now += stream.Exponential(4.0);
      list.push_back(
          {now, stream.Uniform(5.0, 60.0), static_cast<int>(stream.Below(2)), 1 << stream.Below(3)});
      deadline.push_back(now + list.back().steps * stream.Uniform(0.6, 2.0));
    }
    ScenarioData data = TinyData({{"a", 4}, {"b", 5}}, {{2.0, 1.0}, {1.0, 1.5}}, list);
    data.jobs.deadline = deadline;
    data.costs = {0.5, 0.3, 0.2};
    const std::vector<double> ends = Ends("deadline_admission", Scenario(data));
    for (std::size_t i = 0; i < 30; ++i) {
      CAPTURE(seed, i);
      if (ends[i] < kNever) CHECK(ends[i] <= deadline[i] * (1.0 + 1e-9));
      met += ends[i] < kNever;
      rejected += ends[i] == kNever;
    }
  }
  CHECK(met > 100);
  CHECK(rejected > 100);
}

}  // namespace berth
