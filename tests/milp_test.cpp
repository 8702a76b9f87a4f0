// milp: what it claims to be optimal, against enumeration; its plan against those of rules.
#include <algorithm>
#include <cmath>

#include "baselines/optimisation/insertion.hpp"
#include "baselines/optimisation/places.hpp"
#include "baselines/optimisation/programs.hpp"
#include "baselines/optimisation/rule_plans.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/small_instances.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::Achieved;
using test::BestList;
using test::BusyInstanceOf;
using test::DrawScenario;
using test::InstanceOf;
using test::kTargets;
using test::Objective;
using test::Optimum;

constexpr double kSolver = 1e-6;  // relative, of a bound by HiGHS

}  // namespace

TEST_CASE("milp: on single machines it finds the optimum, and proves it", "[optimisation]") {
  for (const Target target : kTargets) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      CAPTURE(Objective(target), seed);
      const Scenario scenario = DrawScenario(seed, 5, {1, 1, 1});
      const double optimum = Optimum(InstanceOf(scenario), target);
      const Solution solution = SolveMilp(InstanceOf(scenario), target, {});
      CHECK(solution.value == Approx(optimum).epsilon(1e-7));
      CHECK(solution.bound == Approx(optimum).epsilon(kSolver));
      CHECK(Achieved("milp(gap=0,nodes=100000,objective=" + Objective(target) + ")", scenario, target) ==
            Approx(optimum).epsilon(1e-7));
    }
  }
}

TEST_CASE("milp: without a search it returns an incumbent with a bound below it", "[optimisation]") {
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Instance instance = InstanceOf(DrawScenario(seed, 8, {1, 1, 1}));
    const Solution stopped = SolveMilp(instance, Target::kWeightedCompletion, {.gap = 0.0, .nodes = 0});
    const Solution solved = SolveMilp(instance, Target::kWeightedCompletion, {.gap = 1e-4});
    CHECK(stopped.bound <= solved.value * (1.0 + kSolver));
    CHECK(stopped.value >= solved.value * (1.0 - 1e-4));
    CHECK(static_cast<int>(stopped.assignment.order.size()) == 8);
    open += stopped.bound < stopped.value * (1.0 - 1e-3);
  }
  CHECK(open > 0);
}

TEST_CASE("milp: of jobs of one GPU and equal weights the least sum of completions, by enumeration",
          "[optimisation]") {
  const auto check = [](const Instance& instance) {
    REQUIRE(HasPlaces(instance));
    const Solution solution = SolveMilp(instance, Target::kWeightedCompletion, {});
    const double optimum = Optimum(instance, Target::kWeightedCompletion);
    CHECK(solution.value == Approx(optimum).epsilon(1e-12));
    CHECK(solution.bound == solution.value);
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const std::vector<int>& counts : {std::vector<int>{1, 1}, {2, 2}, {1, 3}, {4}}) {
      CAPTURE(seed, counts);
      const Scenario scenario = DrawScenario(seed, 5, counts, {.weights = false});
      check(InstanceOf(scenario));
      Instance instance = BusyInstanceOf(scenario);
      check(instance);
      if (counts.size() == 1) continue;
      for (int i = 0; i < 4; ++i) instance.seconds[static_cast<std::size_t>(2 * i)] = kNever;  // on the first
      check(instance);
    }
  }
  // One GPU of a type is idle, three are busy until 1000: all six go on the one, more than a fair share of
  // the type's places. Of 1 to 6 s: 1 + 3 + 6 + 10 + 15 + 21 = 56.
  const Instance one_idle{{0, 1, 2, 3, 4, 5},
                          std::vector<int>(6, 1),
                          std::vector<double>(6, 1.0),
                          {4, 2, 6, 1, 5, 3},
                          {{0.0, 1000.0, 1000.0, 1000.0}}};
  CHECK(SolveMilp(one_idle, Target::kWeightedCompletion, {}).value == 56.0);
}

TEST_CASE("milp: what it calls proven, enumeration confirms", "[optimisation]") {
  constexpr double kGap = 0.02;
  int claims = 0, all = 0, search = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    for (const bool gangs : {false, true}) {
      const Scenario scenario = DrawScenario(seed, 5, {2, 3}, {.gangs = gangs});
      for (const Instance& instance : {InstanceOf(scenario), BusyInstanceOf(scenario)}) {
        for (const Target target : kTargets) {
          CAPTURE(seed, gangs, Objective(target));
          const double best = BestList(instance, target);
          const Solution solution = SolveMilp(instance, target, {.gap = kGap});
          CHECK(solution.bound <= best * (1.0 + kSolver));
          CHECK(solution.value >= best * (1.0 - 1e-12));
          const double rules_alone = SolveMilp(instance, target, {.gap = kGap}, /*branch=*/1).bound;
          search += solution.bound > rules_alone;
          ++all;
          if (solution.value - solution.bound > kGap * solution.value) continue;
          ++claims;
          CHECK(solution.value <= best / (1.0 - kGap));
        }
      }
    }
  }
  CAPTURE(claims, all, search);
  CHECK(claims > all / 4);
  CHECK(claims < all);
  CHECK(search > all / 4);  // the tree raises the bound
}

TEST_CASE("milp: no rule that stops no job has a better plan", "[optimisation]") {
  struct Kind {
    int jobs;
    std::vector<int> counts;
    test::Drawn drawn;
  };
  const Kind kinds[] = {{14, {2, 3}, {.weights = false}},
                        {14, {2, 3}, {.gangs = true, .weights = false}},
                        {14, {4, 2, 3}, {.gangs = true}}};
  int compared = 0, strictly = 0;
  for (const Kind& kind : kinds) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Scenario scenario = DrawScenario(seed, kind.jobs, kind.counts, kind.drawn);
      for (const Target target : kTargets) {
        const double milp = Achieved("milp(objective=" + Objective(target) + ")", scenario, target);
        for (const SchedulerInfo& info : BaselineSchedulers()) {
          if (info.preemptive) continue;
          // Searches, which may find what is as good or better where the problem is hard.
          const std::string name = info.name;
          if (name == "annealing" || name == "genetic" || name == "tabu_search") continue;
          if (name == "hybrid" || name == "milp") continue;
          CAPTURE(name, seed, kind.jobs, kind.drawn.gangs, kind.drawn.weights, Objective(target));
          const double its = Achieved(name, scenario, target);
          CHECK(milp <= its * (1.0 + 1e-9));
          ++compared, strictly += milp < its * (1.0 - 1e-9);
        }
      }
    }
  }
  CHECK(strictly > compared / 2);
}

TEST_CASE("milp: a horizon takes the shortest jobs, not those that came first, by hand", "[optimisation]") {
  // One GPU, jobs of 50, 40, 1 and 2 s. The two that are planned are the last two; had they been the first
  // two, 40 + 90 + 91 + 93 against 1 + 3 + 43 + 93. In a makespan the order is that of arrival.
  const Scenario one = test::Tiny({{"a", 1}}, {{1.0}}, {{0, 50}, {0, 40}, {0, 1}, {0, 2}});
  CHECK(test::Decisions("milp(horizon=2)", one) ==
        test::Log{"0 start 2@0", "1 start 3@0", "3 start 1@0", "43 start 0@0"});
}

TEST_CASE("milp: under overload it does not fall behind the queue's rules", "[optimisation]") {
  // Two types of two GPUs, twice as much work as they can do; run times from 10 to 1000 s. Six of many
  // waiting jobs planned in order of arrival once made milp as slow as conservative, and slower than sjf.
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    Stream stream(seed, Purpose::kTest);
    std::vector<std::vector<double>> rates;
    std::vector<test::TinyJob> jobs;
    double now = 0.0;
    for (int i = 0; i < 120; ++i) {
      rates.push_back({stream.Uniform(0.5, 2.0), stream.Uniform(0.5, 2.0)});
      now += stream.Exponential(25.0);
      jobs.push_back({now, std::exp(stream.Uniform(std::log(10.0), std::log(1000.0))), i});
    }
    const Scenario scenario = test::Tiny({{"a", 2}, {"b", 2}}, rates, jobs);
    const auto jct = [&](const char* spec) { return test::RunOf(spec, scenario).metrics.mean_jct_s; };
    const double milp = jct("milp");
    for (const char* rule : {"fcfs", "sjf", "conservative", "least_loaded"}) {
      CAPTURE(rule);
      CHECK(milp < jct(rule));
    }
  }
}

TEST_CASE("milp: no move of one job improves what insertion has improved", "[optimisation]") {
  int improved = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Instance instance = InstanceOf(DrawScenario(seed, 8, {2, 3}, {.gangs = true}));
    for (const Target target : kTargets) {
      CAPTURE(seed, Objective(target));
      auto [rule, plan] = RulePlans(instance, target).front();
      const double value = Improve(instance, target, plan);
      CHECK(value == ListSchedule().Value(instance, plan, target));
      CHECK(value <= rule);
      improved += value < rule;
      for (int i = 0; i < instance.jobs(); ++i) {
        for (int type = 0; type < instance.types(); ++type) {
          for (std::size_t k = 0; k < plan.order.size(); ++k) {
            Assignment other = plan;
            std::erase(other.order, i);
            other.order.insert(other.order.begin() + static_cast<std::ptrdiff_t>(k), i);
            other.type[static_cast<std::size_t>(i)] = type;
            CHECK(ListSchedule().Value(instance, other, target) >= value * (1.0 - 1e-9));
          }
        }
      }
    }
  }
  CHECK(improved > 0);
}

}  // namespace berth
