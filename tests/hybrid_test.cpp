// A plan that is kept and repaired: by hand, and its two ends, at which it is the optimiser itself.
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using test::Decisions;
using test::Tiny;
using Log = std::vector<std::string>;

std::uint64_t Signature(const std::string& spec, const Scenario& scenario) {
  return test::RunOf(spec, scenario).signature;
}

// The same jobs, all there at 0.
Scenario AtOnce(const Scenario& scenario) {
  ScenarioData data = scenario.data();
  data.jobs.arrival.assign(data.jobs.arrival.size(), 0.0);
  return Scenario(std::move(data));
}

}  // namespace

TEST_CASE("hybrid: a plan that is never repaired, and one made at every arrival, are the optimiser's",
          "[optimisation]") {
  for (const char* plan : {"annealing", "genetic", "assignment_lp", "milp(objective=makespan)",
                           "annealing(objective=makespan,horizon=10)"}) {
    for (const Clock& clock : test::AllClocks()) {
      for (std::uint64_t seed : {61, 62}) {
        CAPTURE(plan, clock.ToString(), seed);
        const Scenario scenario = test::RandomScenario(seed, 40, clock), at_once = AtOnce(scenario);
        if (clock.kind != ClockKind::kHpc)  // there arrivals of one instant come one by one
          CHECK(Signature(Join("hybrid(drift=1,plan=", plan, ")"), at_once) == Signature(plan, at_once));
        CHECK(Signature(Join("hybrid(drift=0,plan=", plan, ")"), scenario) == Signature(plan, scenario));
      }
    }
  }
  // In between it is neither.
  const Scenario scenario = test::RandomScenario(61, 40, {});
  CHECK(Signature("hybrid(drift=1)", scenario) != Signature("annealing", scenario));
  CHECK(Signature("hybrid(drift=1)", scenario) != Signature("hybrid(drift=0.2)", scenario));
}

TEST_CASE("hybrid: repair puts an arrival where it does least harm, by hand", "[optimisation]") {
  // One GPU, jobs of 10, 30 and 40 s at 0: the plan is 0, 1, 2. At 5 comes job 3 of 20 s. Before 1 it ends at
  // 30 and delays 1 and 2 by 20 each: 30 + 40 = 70. Before 2 it ends at 60 and delays 2 alone: 60 + 20 = 80.
  // Behind all it ends at 100. So before 1.
  const std::vector<test::TinyJob> jobs = {{0, 10}, {0, 30}, {0, 40}, {5, 20}};
  const Scenario one = Tiny({{"a", 1}}, {{1.0}}, jobs);
  CHECK(Decisions("hybrid(drift=1)", one) ==
        Log{"0 start 0@0", "10 start 3@0", "30 start 1@0", "60 start 2@0"});
  // A lighter one: at a quarter of the weight 7.5 + 40, 15 + 20, 25: behind all.
  ScenarioData light = one.data();
  light.jobs.weight = {1, 1, 1, 0.25};
  CHECK(Decisions("hybrid(drift=1)", Scenario(light)) ==
        Log{"0 start 0@0", "10 start 1@0", "40 start 2@0", "80 start 3@0"});
  // On a second type of half the speed, idle, which takes 40 s: there it ends at 45 and harms nobody; before
  // 1 it would have cost 70.
  ScenarioData second = test::TinyData({{"a", 1}, {"b", 1}}, {{1.0, 0.0}, {1.0, 0.5}}, jobs);
  second.jobs.job_type = {0, 0, 0, 1};
  CHECK(Decisions("hybrid(drift=1)", Scenario(second)) ==
        Log{"0 start 0@0", "5 start 3@1", "10 start 1@0", "40 start 2@0"});
  // Repair keeps the order of the others, a new plan does not: the plan of assignment_lp is in arrival order,
  // 0, 1, 2, for the makespan; 3 harms nobody anywhere and so goes first.
  CHECK(Decisions("hybrid(drift=1,plan=assignment_lp)", one) ==
        Log{"0 start 0@0", "10 start 3@0", "30 start 1@0", "60 start 2@0"});
  CHECK(Decisions("hybrid(drift=0,plan=assignment_lp)", one) ==
        Log{"0 start 0@0", "10 start 1@0", "40 start 2@0", "80 start 3@0"});
}

TEST_CASE("hybrid: a new plan on drift, after a period, and where jobs are late, by hand", "[optimisation]") {
  // The plan of assignment_lp is in arrival order and a repair goes to the front: who is where tells when the
  // plan was made. One GPU, jobs 0 to 2 of 10 s at 0, then 3, 4 and 5 of 10 s at 1, 2 and 3.
  const Scenario one = Tiny({{"a", 1}}, {{1.0}}, {{0, 10}, {0, 10}, {0, 10}, {1, 10}, {2, 10}, {3, 10}});
  const auto order = [&](const char* spec) {
    std::string jobs;
    for (const std::string& line : Decisions(spec, one)) {
      const std::size_t at = line.find("start ") + 6;
      jobs += line.substr(at, line.find('@') - at);
    }
    return jobs;
  };
  // Never again: each at the front of the queue, the last first.
  CHECK(order("hybrid(drift=1,plan=assignment_lp)") == "054312");
  // 3 is 1 of 3 that wait, 4 makes it 2 of 4, 5 would make it 3 of 5: more than half.
  CHECK(order("hybrid(drift=0.5,plan=assignment_lp)") == "012345");
  // At 10, with the period over: in arrival order again; until 10 nothing started.
  CHECK(order("hybrid(drift=1,every_s=10,plan=assignment_lp)") == "012345");
  // After 25 s: at 10 the front, 5, has started, at 20 job 4; at 25 nothing can start, but the plan is new:
  // at 30 comes 1.
  CHECK(order("hybrid(drift=1,every_s=25,plan=assignment_lp)") == "054123");
  // Job 0 is thought to take less than 5 s and takes 10: job 1 is late. Job 3 comes at 9 and is put in front,
  // unless more than 3 s late means a new plan.
  ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {0, 10}, {0, 10}, {9, 10}});
  data.knowledge = Knowledge::kEstimate, data.estimate_sigma = 1.0;
  while (Scenario(data).EstimateFactor(0) > 0.5) ++data.seed;
  const Scenario late(data);
  CHECK(Decisions("hybrid(drift=1,plan=assignment_lp)", late).at(1) == "10 start 3@0");
  CHECK(Decisions("hybrid(drift=1,late_s=3,plan=assignment_lp)", late).at(1) == "10 start 1@0");
  CHECK(Decisions("hybrid(drift=1,late_s=9,plan=assignment_lp)", late).at(1) == "10 start 3@0");
  CHECK_THROWS_WITH(test::Make("hybrid(plan=fcfs)"),
                    Catch::Contains("expected milp, annealing, tabu_search, genetic or assignment_lp, found 'fcfs'"));
  CHECK_THROWS_WITH(test::Make("hybrid(plan=anealing)"), Catch::Contains("did you mean 'annealing'"));
  CHECK_THROWS_WITH(test::Make("hybrid(plan=tabu_serch)"), Catch::Contains("did you mean 'tabu_search'"));
  CHECK_NOTHROW(test::Make("hybrid(plan=tabu_search)"));
  CHECK_THROWS_WITH(test::Make("hybrid(plan=policy(file=p.h5))"),
                    Catch::Contains("expected milp, annealing, tabu_search, genetic or assignment_lp, found 'policy("));
  CHECK_THROWS_WITH(test::Make("hybrid(drift=2)"), Catch::Contains("drift"));
}

}  // namespace berth
