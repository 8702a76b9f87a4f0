// Schedulers that share out one cluster where GPUs leave with notice and gangs are resized: what stops or
// moves does not free every GPU that it held, nor as many as its gang.
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

// 30 jobs of 1 to 4 GPUs within ten minutes on two types of 8 in nodes of 4; those of b come and go.
Scenario Leaving(std::uint64_t seed, const char* more, const char* clock) {
  Stream draw(seed, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int job = 0; job < 30; ++job) {
    now += 20.0 * draw.Uniform();
    jobs.push_back({now, draw.Uniform(20.0, 300.0), 0, 1 << draw.Below(3)});
  }
  ScenarioData data = test::TinyData({{"a", 8}, {"b", 8}}, {{2.0, 1.0}}, jobs);
  for (GpuType& type : data.cluster.types) type.gpus_per_node = 4;
  data.seed = seed;
  return test::With(
      std::move(data),
      Join("failures(mtbf_h=0,spot_types=b,spot_mtbf_h=0.05,spot_away_h=0.02,spot_notice_s=60)", more),
      clock);
}

}  // namespace

TEST_CASE("composition: GPUs that leave and gangs that are resized are shared out legally", "[composition]") {
  for (const char* outer : {"reservation(safety=0,inner=", "pools(pools=x:*/0.5|y:*,route=load,inner=",
                            "hierarchical(outer=fcfs,inner="}) {
    for (const char* inner : {"srpt", "las", "preempt_migrate", "elastic_srpt", "equal_share"}) {
      for (const char* more : {"", ";elasticity(min_factor=0.5,max_factor=4,measured=false)"}) {
        for (const char* clock : {"event", "rounds(15)"}) {
          const std::string spec = Join(outer, inner, ")");
          for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            CAPTURE(spec, more, clock, seed);
            CHECK(test::RunOf(spec, Leaving(seed, more, clock)).metrics.unfinished == 0);
          }
        }
      }
    }
  }
}

// Two gangs of 4 share 4 GPUs, at half speed each. The outer scheduler has nothing to order when the first has ended, and the second goes
// on with its 2; from 300 s on beside a third, each on one GPU: 250 steps left in 1,000 s.
TEST_CASE("hierarchical: gangs on fewer GPUs than they ask for run on", "[composition]") {
  const ScenarioData two = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 100, 0, 4}, {0, 400, 0, 4}});
  const ScenarioData three = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 100, 0, 4}, {0, 400, 0, 4}, {300, 250, 0, 4}});
  const char* elastic = "elasticity(measured=false,scaling=linear,resize_s=0,min_factor=0,max_factor=1)";
  CHECK(test::Ends("hierarchical(inner=equal_share)", test::With(two, elastic)) == std::vector<double>{200.0, 800.0});
  CHECK(test::Ends("hierarchical(inner=equal_share)", test::With(three, elastic)) ==
        std::vector<double>{200.0, 1300.0, 1300.0});
  for (const char* inner : {"equal_share", "optimus", "elastic_srpt"}) {
    for (const char* clock : {"event", "rounds(100)"}) {
      CAPTURE(inner, clock);
      const std::string spec = Join("hierarchical(inner=", inner, ")");
      CHECK(test::RunOf(spec, test::With(three, elastic, clock)).metrics.unfinished == 0);
    }
  }
}

// Who starts gangs as they are does what it does where they cannot be resized: a gang that is too large for a part does not wait in front
// of the tenant's other jobs.
TEST_CASE("hierarchical: an inner scheduler that does not resize is not shown gangs beyond its part", "[composition]") {
  ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}},
                                     {{0, 10000}, {0, 10000}, {1, 1000, 0, 4}, {2, 100}, {3, 100}, {4, 100}});
  data.tenants = {{"a"}, {"b"}};
  data.jobs.tenant = {0, 1, 0, 0, 0, 1};
  const Scenario rigid = test::With(data, "elasticity(measured=false,scaling=linear,resize_s=0,min_factor=1,max_factor=1)");
  const Scenario elastic = test::With(data, "elasticity(measured=false,scaling=linear,resize_s=0,min_factor=0,max_factor=1)");
  for (const char* outer : {"srpt", "las", "fair_share"}) {
    for (const char* inner : {"fcfs", "drf", "adaptive(arms=fcfs|drf)"}) {
      const std::string spec = Join("hierarchical(outer=", outer, ",inner=", inner, ")");
      CAPTURE(spec);
      CHECK(test::Ends(spec, elastic) == test::Ends(spec, rigid));
    }
  }
}

// A gang of 8 that may have one GPU, on two pools of 4; and one of 4 that comes while each pool has 2 of its GPUs, which the other two join
// at 5,000 s. Both begin when they come, on all that the first pool has: 100 s of 8 GPUs are 200 s of 4, and 1,000 s of 4 are 2,000 s of 2.
TEST_CASE("pools: gangs beyond every pool start on fewer GPUs where its scheduler resizes", "[composition]") {
  const std::string elastic = "elasticity(measured=false,scaling=linear,resize_s=0,min_factor=0,max_factor=1)";
  ScenarioData data = test::TinyData({{"a", 8}}, {{1.0}}, {{0, 100, 0, 8}});
  data.throughputs.gang_sizes = {1, 4, 8};
  data.cluster.types[0].gpus_per_node = 4;
  const Scenario large = test::With(data, elastic);
  const std::string pools = "pools(pools=x:a/0.5|y:a,inner=";
  CHECK(test::Ends(pools + "equal_share)", large) == std::vector<double>{200.0});
  CHECK_THROWS_WITH(test::Ends(pools + "fcfs)", large), Catch::Contains("job 0 of gang 8"));

  data.jobs.arrival = {200}, data.jobs.gang = {4}, data.jobs.total_steps = {1000};
  data.cluster.types[0].gpus_per_node = 2;
  const Scenario away =
      test::With(data, elastic + ";failures(mtbf_h=0,events=100:5000:node:a/0|100:5000:node:a/2)");
  CHECK(test::Ends(pools + "equal_share)", away) == std::vector<double>{2200.0});
  CHECK(test::Ends(pools + "fcfs)", away) == std::vector<double>{6000.0});
}

// Scheduler::resizes, of every row; those with others inside answer for them.
TEST_CASE("schedulers: who does not say that it resizes gives every job its gang", "[composition]") {
  for (const std::string around :
       {"batch(inner=", "evacuate(inner=", "predicted(inner=", "anticipate(inner=", "admission(inner=", "token_bucket(inner=",
        "autoscale(inner=", "power_feedback(inner=", "defragment(inner=", "reservation(inner=", "pools(inner=", "hierarchical(inner=",
        "hierarchical(inner=fcfs,outer=", "guard(fallback=fcfs,policy=", "guard(policy=fcfs,fallback=", "adaptive(arms=fcfs|"}) {
    CAPTURE(around);
    CHECK(test::Make(around + "equal_share)")->resizes());
    CHECK_FALSE(test::Make(around + "easy)")->resizes());
  }
  const Scenario scenario = Leaving(4, ";elasticity(min_factor=0.5,max_factor=4,measured=false)", "event");
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    const auto scheduler = test::Make(info.name);
    if (scheduler->resizes()) continue;
    CAPTURE(info.name);
    Simulator sim(scenario);
    scheduler->Reset(sim.View(scheduler->knowledge()));
    Decision decision;
    while (sim.AdvanceToDecision()) {
      decision.Clear();
      scheduler->Decide(sim.View(scheduler->knowledge()), decision);
      for (const Command& command : decision.commands) {
        if (command.kind != CommandKind::kStart && command.kind != CommandKind::kMove) continue;
        if (command.width > 0) REQUIRE(command.width == scenario.data().jobs.gang[U(command.job)]);
      }
      REQUIRE(sim.Apply(decision).ok());
    }
  }
}

}  // namespace berth
