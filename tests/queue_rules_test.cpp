// The loss system of fcfs and the preemptive form of priority, on cases small enough to work by hand.
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::Decisions;
using test::Log;
using test::Make;
using test::Tiny;
using test::TinyData;

}  // namespace

TEST_CASE("fcfs: an arrival that finds the queue full is rejected", "[baselines]") {
  // One GPU. Job 0 runs 0-100; job 1 waits; jobs 2 and 3 find it waiting. At 150 job 1 runs (100-200), so 4
  // waits.
  const auto scenario = Tiny({{"a", 1}}, {{1.0}}, {{0, 100}, {10, 100}, {20, 100}, {30, 5}, {150, 10}});
  CHECK(Decisions("fcfs(queue_limit=1)", scenario) ==
        Log{"0 start 0@0", "20 reject 2", "30 reject 3", "100 start 1@0", "200 start 4@0"});
  CHECK(Decisions("fcfs(queue_limit=0)", scenario) ==
        Log{"0 start 0@0", "10 reject 1", "20 reject 2", "30 reject 3", "150 start 4@0"});
  CHECK(Decisions("fcfs(queue_limit=5)", scenario) == Decisions("fcfs", scenario));
  // Four at once, two GPUs, room for one more: the last is turned away, once the first two have started.
  CHECK(Decisions("fcfs(queue_limit=1)", Tiny({{"a", 2}}, {{1.0}}, {{0, 10}, {0, 10}, {0, 10}, {0, 10}})) ==
        Log{"0 reject 3", "0 start 0@0", "0 start 1@0", "10 start 2@0"});
  // A gang at the head that does not fit waits too: job 2 finds one waiting although a GPU is idle.
  CHECK(Decisions("fcfs(queue_limit=1)",
                  Tiny({{"a", 2}}, {{1.0}}, {{0, 100, 0, 1}, {10, 10, 0, 2}, {20, 10, 0, 1}})) ==
        Log{"0 start 0@0", "20 reject 2", "100 start 1@0"});
  CHECK_THROWS_WITH(Make("fcfs(queue_limit=-1)"), Catch::Contains("queue_limit"));
  CHECK_THROWS_WITH(Make("fcfs(queue_limit=nnone)"), Catch::Contains("whole number"));
}

TEST_CASE("priority: preemptive, heavier jobs stop lighter ones, which resume", "[baselines]") {
  // One GPU. Job 0 (weight 1) runs 0-10, is stopped by job 1 (weight 5, 10-30), and has 90 s left at 30; job
  // 2 (weight 1) arrives at 20 and comes after job 0, which is earlier.
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 100}, {10, 20}, {20, 5}});
  data.jobs.weight = {1, 5, 1};
  CHECK(Decisions("priority(preemptive=true)", Scenario(data)) ==
        Log{"0 start 0@0", "10 stop 0", "10 start 1@0", "30 start 0@0", "120 start 2@0"});
  // Equal weights never disturb each other.
  data.jobs.weight = {1, 1, 1};
  CHECK(Decisions("priority(preemptive=true)", Scenario(data)) == Decisions("priority", Scenario(data)));
}

TEST_CASE("priority: preemptive, jobs that need not stop run on where they are", "[baselines]") {
  // a: 1 GPU at 2 steps/s, b: 1 at 1. Job 0 on a; job 1 on b; heavier job 2 takes a, job 0 has b's owner's
  // earlier claim and moves there, job 1 stops. When 2 ends at 20, job 0 stays on b and job 1 goes on on a.
  ScenarioData data = TinyData({{"a", 1}, {"b", 1}}, {{2.0, 1.0}}, {{0, 200}, {0, 200}, {10, 20}});
  data.jobs.weight = {1, 1, 5};
  CHECK(Decisions("priority(preemptive=true)", Scenario(data)) ==
        Log{"0 start 0@0", "0 start 1@1", "10 stop 1", "10 move 0@1", "10 start 2@0", "20 start 1@0"});
  // Two GPUs. Job 1 (weight 5) needs both while the heavier job 0 holds one: it keeps the lighter job 3 from
  // starting, unless overtaking is allowed, but not job 2 from running on.
  ScenarioData gang =
      TinyData({{"a", 3}}, {{1.0}}, {{0, 100, 0, 2}, {0, 50, 0, 1}, {10, 10, 0, 2}, {20, 10, 0, 1}});
  gang.jobs.weight = {9, 1, 5, 1};
  CHECK(Decisions("priority(preemptive=true)", Scenario(gang)) ==
        Log{"0 start 0@0", "0 start 1@0", "100 start 2@0", "100 start 3@0"});
  CHECK(Decisions("priority(preemptive=true,overtake=true)", Scenario(gang)) ==
        Log{"0 start 0@0", "0 start 1@0", "50 start 3@0", "100 start 2@0"});
}

}  // namespace berth
