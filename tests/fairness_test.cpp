// Fair share by Slurm's formula and a closed form of decayed usage; DRF by the example of its paper;
// proportional fairness by what defines it.
#include <cmath>

#include "baselines/fairness/decayed_usage.hpp"
#include "baselines/fairness/dominant_shares.hpp"
#include "baselines/gavel/nash_welfare.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using Log = std::vector<std::string>;
using test::Decisions;
using test::TinyData;

}  // namespace

TEST_CASE("fair_share: Slurm's factor", "[baselines]") {
  // slurm.schedmd.com/classic_fair_share.html: a factor of 0.5 stands for just the share used, 1 for nothing,
  // 0.25 for twice the share.
  CHECK(FairShareFactor(0.25, 0.25) == Approx(0.5).epsilon(1e-15));
  CHECK(FairShareFactor(0.0, 0.25) == 1.0);
  CHECK(FairShareFactor(0.5, 0.25) == Approx(0.25).epsilon(1e-15));
}

TEST_CASE("fair_share: usage decays as it accrues, however often one looks", "[baselines]") {
  // A gang of 2 runs 0-1000 s, half-life 300 s: U(1000) = 2 h / ln 2 (1 - 2^(-1000/h)); 600 s later a
  // quarter.
  const auto usage = [](const std::vector<double>& looks) {
    Simulator simulator(test::Tiny({{"a", 2}}, {{1.0}}, {{0, 1000, 0, 2}, {5000, 1}}));
    DecayedUsage decayed(300.0);
    REQUIRE(simulator.AdvanceToDecision());
    decayed.Reset(simulator.View(Knowledge::kBlind));
    Decision decision;
    decision.Start(0, 0);
    for (double look : looks) {
      decayed.Observe(simulator.View(Knowledge::kBlind));
      decision.wake_at = look;
      REQUIRE(simulator.Apply(decision).ok());
      decision.Clear();
      REQUIRE(simulator.AdvanceToDecision());
    }
    decayed.Observe(simulator.View(Knowledge::kBlind));
    CHECK(simulator.now() == looks.back());
    return decayed.usage(0);
  };
  const double h = 300.0, full = 2.0 * h / std::log(2.0) * (1.0 - std::exp2(-1000.0 / h));
  CHECK(usage({1000.0}) == Approx(full).epsilon(1e-12));
  CHECK(usage({10.0, 11.0, 500.0, 999.0, 1000.0}) == Approx(full).epsilon(1e-12));
  CHECK(usage({1000.0, 1600.0}) == Approx(full / 4.0).epsilon(1e-12));
}

// A gang of two that was given four GPUs: 4 x 100 s, not 2 x 100.
TEST_CASE("fair_share: usage is of the GPUs held, not of the gang asked for", "[baselines]") {
  Simulator simulator(test::With(TinyData({{"a", 4}}, {{1.0}}, {{0, 1000, 0, 2}}),
                                 "elasticity(min_factor=0,max_factor=2,measured=false,scaling=linear,resize_s=0)"));
  REQUIRE(simulator.AdvanceToDecision());
  DecayedUsage usage(kNever);
  usage.Reset(simulator.View(Knowledge::kBlind));
  usage.Observe(simulator.View(Knowledge::kBlind));
  Decision decision;
  decision.Start(0, 0);
  decision.commands.back().width = 4;
  decision.wake_at = 100.0;
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  usage.Observe(simulator.View(Knowledge::kBlind));
  CHECK(usage.usage(0) == 400.0);
}

TEST_CASE("fair_share: the tenant that used less of its share goes first", "[baselines]") {
  // Tenants x (weight 3) and y (1), one GPU. x ran 0-30, y 30-40 (it came at 5 and waits). At 40 x has used
  // 30 of 40, just its share of 3/4 (F = 1/2), and so has y: 10 of 40, 1/4. Equal, so arrival order: 2, of x;
  // then x has 40 of 50 and y 10 of 50: 4, of y, before 3.
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 30}, {5, 10}, {35, 10}, {36, 10}, {37, 10}});
  data.tenants = {{"x", 3.0}, {"y", 1.0}};
  data.jobs.tenant = {0, 1, 0, 0, 1};
  CHECK(Decisions("fair_share(half_life=0)", Scenario(data)) ==
        Log{"0 start 0@0", "30 start 1@0", "40 start 2@0", "50 start 4@0", "60 start 3@0"});
  // With a half-life of 1 s only the last run counts: at 40 that was y's.
  CHECK(Decisions("fair_share(half_life=1)", Scenario(data))[2] == "40 start 2@0");
  CHECK(Decisions("fair_share(half_life=1)", Scenario(data))[3] == "50 start 4@0");
  // One tenant: first come, first served.
  const Scenario one = test::RandomScenario(31, 40, {ClockKind::kEvent});
  CHECK(Decisions("fair_share", one) == Decisions("fcfs", one));
}

TEST_CASE("drf: the example of the paper", "[baselines]") {
  // Ghodsi et al., NSDI 2011, §4.1: 9 CPUs, 18 GB; tasks of A need <1 CPU, 4 GB>, of B <3 CPUs, 1 GB>: A gets
  // 3 tasks, B 2, both with a dominant share of 2/3. Figure 3: the five steps.
  CHECK(ProgressiveFilling({9.0, 18.0}, {1.0, 1.0}, {{1.0, 4.0}, {3.0, 1.0}}) == std::vector<int>{3, 2});
  DominantShares shares({9.0, 18.0}, {1.0, 1.0});
  for (int i = 0; i < 3; ++i) shares.Take(0, std::vector<double>{1.0, 4.0});
  for (int i = 0; i < 2; ++i) shares.Take(1, std::vector<double>{3.0, 1.0});
  CHECK(shares.Share(0) == Approx(2.0 / 3.0).epsilon(1e-15));
  CHECK(shares.Share(1) == Approx(2.0 / 3.0).epsilon(1e-15));
  CHECK(shares.left(0) == 0.0);
  // Weights (§4.3): twice the weight, twice the share. One resource of 9: 6 and 3.
  CHECK(ProgressiveFilling({9.0}, {2.0, 1.0}, {{1.0}, {1.0}}) == std::vector<int>{6, 3});
}

TEST_CASE("drf: tenants take turns by their dominant shares of GPU types", "[baselines]") {
  // Types a (4) and b (8). Tenant x runs faster on a, y on b. 0 (x, 2 of a: 1/2); then y has 0: 2 (4 of b:
  // 1/2); equal, the first: 1 (x, 2 of a: 1); then y: 3 (4 of b). x's 4 does not fit on a and takes nothing
  // of b: it waits.
  ScenarioData data = TinyData({{"a", 4}, {"b", 8}}, {{2.0, 0.0}, {0.0, 2.0}},
                               {{0, 20, 0, 2}, {0, 20, 0, 2}, {0, 40, 1, 4}, {0, 40, 1, 4}, {0, 20, 0, 1}});
  data.tenants = {{"x"}, {"y"}};
  data.jobs.tenant = {0, 0, 1, 1, 0};
  CHECK(Decisions("drf", Scenario(data)) ==
        Log{"0 start 0@0", "0 start 2@1", "0 start 1@0", "0 start 3@1", "10 start 4@0"});
}

// a's gang of 4 was given one GPU, b has the three others for its three jobs. The first of these ends at 12,000 s: a, with 1/4 against
// 2/4, is next, and b's other job a job later.
TEST_CASE("drf: a running gang counts as the GPUs that it holds", "[baselines]") {
  ScenarioData data = TinyData(
      {{"v100", 4}}, {{1.0}},
      {{0, 100000, 0, 4}, {0, 12000}, {0, 50000}, {0, 50000}, {10001, 1000}, {10001, 1000}});
  data.tenants = {{"a"}, {"b"}};
  data.jobs.tenant = {0, 1, 1, 1, 0, 1};
  const Scenario scenario = test::With(
      data, "elasticity(measured=false,scaling=linear,resize_s=0,min_factor=0,max_factor=1)");
  const std::vector<double> ends = test::Ends("adaptive(arms=equal_share|drf,epoch=10000)", scenario);
  CHECK(ends[4] == Approx(13000.0).epsilon(1e-12));
  CHECK(ends[5] == Approx(14000.0).epsilon(1e-12));
}

TEST_CASE("proportional_fairness: no other allocation has a greater sum of relative throughputs",
          "[baselines]") {
  // Kelly, Maulloo & Tan 1998, eq. 3: sum over jobs of (u_i(y) - u_i(x)) / u_i(x) <= 0 for every feasible y.
  Stream stream(3, Purpose::kTest);
  gavel::Problem problem;
  problem.workers = {2, 3, 4};
  const int jobs = 7;
  for (int i = 0; i < jobs; ++i) {
    problem.key.push_back(i);
    problem.gang.push_back(1);
    problem.weight.push_back(1.0);
    for (int type = 0; type < 3; ++type) problem.throughput.push_back(stream.Uniform(0.5, 5.0));
  }
  gavel::Allocation x;
  Params none(Spec{"none", {}}, {});
  REQUIRE(gavel::ProportionalFairnessObjective().make({}, none)->Allocate(problem, x));
  const std::vector<double> u = gavel::EffectiveThroughput(problem, x);
  int below = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    // A random feasible y: random shares, scaled down to every constraint that they break.
    gavel::Allocation y(x.size());
    for (double& value : y) value = stream.Uniform();
    double scale = 0.0;
    for (std::size_t i = 0; i < 7; ++i) scale = std::max(scale, y[3 * i] + y[3 * i + 1] + y[3 * i + 2]);
    for (std::size_t type = 0; type < 3; ++type) {
      double used = 0.0;
      for (std::size_t i = 0; i < 7; ++i) used += y[3 * i + type];
      scale = std::max(scale, used / problem.workers[type]);
    }
    for (std::size_t k = 0; k < y.size(); ++k)
      y[k] = draw % 2 == 0 ? y[k] / scale : 0.9 * x[k] + 0.1 * y[k] / scale;
    const std::vector<double> v = gavel::EffectiveThroughput(problem, y);
    double sum = 0.0;
    for (std::size_t i = 0; i < 7; ++i) sum += (v[i] - u[i]) / u[i];
    CHECK(sum <= 1e-6);
    below += sum < -1e-3;
  }
  CHECK(below > 1000);
  // By its own name and as an objective of gavel it is the same.
  const Scenario scenario = test::RandomScenario(32, 30, {ClockKind::kRounds, 60.0});
  CHECK(Decisions("proportional_fairness", scenario) ==
        Decisions("gavel(objective=proportional_fairness)", scenario));
}

}  // namespace berth
