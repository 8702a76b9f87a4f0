// The optimising schedulers against exhaustive search on small instances, and their bounds.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "baselines/optimisation/programs.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/small_instances.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::Achieved;
using test::BestList;
using test::DrawScenario;
using test::Ends;
using test::InstanceOf;
using test::kTargets;
using test::Objective;
using test::Optimum;

}  // namespace

TEST_CASE("bounds: none exceeds the best list schedule, on types of several GPUs with gangs",
          "[optimisation]") {
  CheckedLp lp(LpMethod::kSimplex);
  double milp_gap = 0.0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Instance instance = InstanceOf(DrawScenario(seed, 5, {2, 3}, {.gangs = true}));
    for (const Target target : kTargets) {
      CAPTURE(seed, Objective(target));
      const double best = BestList(instance, target);
      CHECK(QuickBound(instance, target) <= best * (1.0 + 1e-9));
      const Solution milp = SolveMilp(instance, target, {});
      CHECK(milp.bound <= best * (1.0 + 1e-6));
      CHECK(milp.value >= best * (1.0 - 1e-9));
      milp_gap += (milp.value / best - 1.0) / 16.0;
    }
    CHECK(RoundAssignmentLp(instance, lp).bound <= BestList(instance, Target::kMakespan) * (1.0 + 1e-6));
  }
  CHECK(milp_gap < 0.05);
}

TEST_CASE("bounds: none exceeds the best list schedule where jobs run already", "[optimisation]") {
  CheckedLp lp(LpMethod::kSimplex);
  int late = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Instance instance = test::BusyInstanceOf(DrawScenario(seed, 4, {2, 2}, {.gangs = true}));
    for (const Target target : kTargets) {
      CAPTURE(seed, Objective(target));
      const double best = BestList(instance, target);
      CHECK(QuickBound(instance, target) <= best * (1.0 + 1e-9));
      CHECK(SolveMilp(instance, target, {}).bound <= best * (1.0 + 1e-6));
    }
    const double best = BestList(instance, Target::kMakespan);
    CHECK(RoundAssignmentLp(instance, lp).bound <= best * (1.0 + 1e-6));
    late += best == instance.last_free();  // what runs ends last
  }
  CHECK(late > 0);
  // One GPU of two is busy until 100, the other idle: the job ends at 5, all that runs at 100.
  const Instance busy{{0}, {1}, {1.0}, {kNever, 5.0}, {{100.0}, {0.0}}};
  const RoundedAssignment rounded = RoundAssignmentLp(busy, lp);
  CHECK(ListSchedule().Value(busy, rounded.assignment, Target::kMakespan) == 100.0);
  CHECK(rounded.bound == 100.0);
}

TEST_CASE("assignment_lp: without an answer that is proven, jobs where they end soonest and no bound",
          "[optimisation]") {
  CheckedLp lp(LpMethod::kSimplex);
  const Instance beyond{{0, 1}, {1, 1}, {1.0, 1.0}, {1e18, 2e18, 3.0, 2.0}, {{0.0}, {0.0}}};  // of the solver
  const RoundedAssignment rounded = RoundAssignmentLp(beyond, lp);
  CHECK(rounded.bound == 0.0);
  CHECK(rounded.assignment.type == std::vector<int>{0, 1});
}

TEST_CASE("assignment_lp: at most twice the optimum, and its bound below it", "[optimisation]") {
  // Lenstra, Shmoys & Tardos 1990, Theorem 2, on identical and unrelated machines.
  CheckedLp lp(LpMethod::kSimplex);
  double worst = 1.0, mean = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const Instance instance = InstanceOf(DrawScenario(seed, 6, {1, 1, 1}));
    const double optimum = Optimum(instance, Target::kMakespan);
    const RoundedAssignment rounded = RoundAssignmentLp(instance, lp);
    const double value = ListSchedule().Value(instance, rounded.assignment, Target::kMakespan);
    CHECK(rounded.bound <= optimum * (1.0 + 1e-6));
    CHECK(rounded.bound > 0.5 * value * (1.0 - 1e-6));
    CHECK(value <= 2.0 * optimum * (1.0 + 1e-6));
    worst = std::max(worst, value / optimum);
    mean += value / optimum / 40.0;
  }
  CAPTURE(worst, mean);
  CHECK(mean < 1.35);
}

TEST_CASE("annealing and genetic: never worse than greedy, near the optimum", "[optimisation]") {
  for (const Target target : kTargets) {
    double greedy_gap = 0.0, annealing_gap = 0.0, genetic_gap = 0.0;
    constexpr int kInstances = 25;
    for (std::uint64_t seed = 1; seed <= kInstances; ++seed) {
      CAPTURE(seed, Objective(target));
      const Scenario scenario = DrawScenario(seed, 6, {1, 1, 1});
      const Instance instance = InstanceOf(scenario);
      const double optimum = Optimum(instance, target);
      double greedy = 0.0;
      Greedy(instance, target, greedy);
      const std::string objective = "(objective=" + Objective(target) + ")";
      const double annealing = Achieved("annealing" + objective, scenario, target);
      const double genetic = Achieved("genetic" + objective, scenario, target);
      for (double value : {annealing, genetic}) {
        CHECK(value >= optimum * (1.0 - 1e-9));
        CHECK(value <= greedy * (1.0 + 1e-9));
      }
      greedy_gap += (greedy / optimum - 1.0) / kInstances;
      annealing_gap += (annealing / optimum - 1.0) / kInstances;
      genetic_gap += (genetic / optimum - 1.0) / kInstances;
    }
    CAPTURE(Objective(target), greedy_gap, annealing_gap, genetic_gap);
    CHECK(greedy_gap > 0.02);
    CHECK(annealing_gap < 0.03);
    CHECK(genetic_gap < 0.03);
  }
}

TEST_CASE("annealing and genetic: more iterations help, the seed decides", "[optimisation]") {
  const Scenario scenario = DrawScenario(77, 12, {2, 2, 2}, {.gangs = true});
  const auto value = [&](const std::string& spec) {
    return Achieved(spec, scenario, Target::kWeightedCompletion);
  };
  CHECK(value("annealing(iterations=20000)") <= value("annealing(iterations=50)"));
  CHECK(value("genetic(generations=200)") <= value("genetic(generations=3)"));
  CHECK(value("annealing") == value("annealing"));
  // Jobs beyond the horizon follow the plan: all end, and a horizon that holds all changes nothing.
  CHECK(value("annealing(horizon=3)") < kNever);
  CHECK(value("genetic(horizon=12)") == value("genetic"));
}

// The best choice of one job on a, two on b out of six, by exhaustive search.
template <typename Weight>
double BestOfThree(Weight weight) {
  double best = -1e300;
  for (int x = 0; x < 6; ++x) {
    for (int y = 0; y < 6; ++y) {
      for (int z = 0; z < 6; ++z) {
        if (x != y && y != z && x != z) best = std::max(best, weight(x, 0) + weight(y, 1) + weight(z, 1));
      }
    }
  }
  return best;
}

TEST_CASE("matching and nash_welfare: the greatest sum of weights, by exhaustive search", "[optimisation]") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    const Scenario scenario = DrawScenario(seed, 6, {1, 2});
    Simulator simulator(scenario);
    REQUIRE(simulator.AdvanceToDecision());
    const ClusterView view = simulator.View(Knowledge::kOracle);
    const auto found = [&](const char* name, auto weight) {
      Decision decision;
      test::Make(name)->Decide(view, decision);
      CHECK(decision.commands.size() == 3);
      double sum = 0.0;
      for (const Command& command : decision.commands) sum += weight(command.job, command.type);
      return sum;
    };
    const auto rate = [&](int job, int type) { return view.Rate(job, type) / view.RemainingSteps(job); };
    CHECK(found("matching", rate) == Approx(BestOfThree(rate)).epsilon(1e-12));
    // ln of the product of 1 / (seconds alone on the fastest type x slowness here).
    const auto log = [&](int job, int type) { return std::log(rate(job, type)); };
    CHECK(found("nash_welfare", log) == Approx(BestOfThree(log)).epsilon(1e-9));
  }
}

// A gang of 2 that is half as fast on b, and two single jobs that are 2^0.75 times slower there; two GPUs
// each. The product of speeds is greatest with the gang on b (1 / 2 against 2^-1.5), with every member
// counted the other way round (1 / 4).
TEST_CASE("nash_welfare: a gang counts once, or as often as it takes GPUs", "[optimisation]") {
  const double slow = std::exp2(-0.75);
  const Scenario scenario = test::Tiny({{"a", 2}, {"b", 2}}, {{1.0, 0.5}, {1.0, slow}},
                                       {{0.0, 3600.0, 0, 2}, {0.0, 3600.0, 1, 1}, {0.0, 3600.0, 1, 1}});
  const auto gang_on = [&](const char* spec) {
    Simulator simulator(scenario);
    REQUIRE(simulator.AdvanceToDecision());
    Decision decision;
    test::Make(spec)->Decide(simulator.View(Knowledge::kOracle), decision);
    REQUIRE(decision.commands.size() == 3);
    int type = -1;
    for (const Command& command : decision.commands) {
      if (command.job == 0) type = command.type;
    }
    return type;
  };
  CHECK(gang_on("nash_welfare") == 1);
  CHECK(gang_on("nash_welfare(weight=gpu)") == 0);
}

// Three pairs that come at 100 s ask for more than all five GPUs, but two of them leave one of a: the long job stays there. The third pair
// follows at 5,100 s.
TEST_CASE("matching and nash_welfare: what gangs leave goes to anybody", "[optimisation]") {
  const Scenario scenario = test::Tiny({{"a", 3}, {"b", 2}}, {{1.0, 1.0}},
                                       {{0, 200000}, {100, 5000, 0, 2}, {100, 5000, 0, 2}, {100, 5000, 0, 2}});
  for (const char* spec : {"matching", "nash_welfare"}) {
    CAPTURE(spec);
    std::vector<double> ends = Ends(spec, scenario);
    std::sort(ends.begin(), ends.end());
    CHECK(ends == std::vector<double>{5100, 5100, 10100, 200000});
  }
}

TEST_CASE("matching and nash_welfare: on equal GPUs they are srpt", "[optimisation]") {
  Stream stream(5, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int i = 0; i < 80; ++i) {
    now += stream.Exponential(4.0);
    jobs.push_back({now, stream.Exponential(10.0)});
  }
  const Scenario scenario = test::Tiny({{"a", 3}}, {{1.0}}, jobs);
  CHECK(Ends("matching", scenario) == Ends("srpt", scenario));
  CHECK(Ends("nash_welfare", scenario) == Ends("srpt", scenario));
}

}  // namespace berth
