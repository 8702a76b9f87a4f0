// Linear programs at their edges, by every method, each answer checked from the model alone; and what the
// scheduler does when a solver fails or runs out of time.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "baselines/gavel/level_lp.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/policy_source.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/sim/simulator.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth::gavel {
namespace {

constexpr LpMethod kMethods[] = {LpMethod::kSimplex, LpMethod::kInteriorPoint, LpMethod::kEmbedding};

Problem Jobs(int count, const std::vector<int>& workers, std::uint64_t seed) {
  Stream random(seed, Purpose::kTest);
  Problem problem;
  problem.workers = workers;
  for (std::size_t j = 0; j < workers.size(); ++j) problem.type_names.push_back(Join("t", j));
  for (int i = 0; i < count; ++i) {
    problem.key.push_back(i);
    problem.gang.push_back(1 << random.Below(3));
    problem.weight.push_back(random.Below(5) == 0 ? 5.0 : 1.0);
    for (std::size_t j = 0; j < workers.size(); ++j) problem.throughput.push_back(random.Uniform(0.5, 20.0));
  }
  return problem;
}

// max x + y, x + y <= 1 and 3 more rows through the same corner: degenerate at every vertex.
LpModel Degenerate() {
  LpModel model;
  model.maximize = true;
  model.AddColumn(1.0, 0.0, kLpInfinity);
  model.AddColumn(1.0, 0.0, kLpInfinity);
  for (const auto& [a, b, bound] : {std::tuple{1.0, 1.0, 1.0}, std::tuple{2.0, 2.0, 2.0},
                                    std::tuple{1.0, 0.0, 1.0}, std::tuple{0.0, 1.0, 1.0}}) {
    model.AddEntry(0, a);
    model.AddEntry(1, b);
    model.EndRow(-kLpInfinity, bound);
  }
  return model;
}

}  // namespace

TEST_CASE("lp: degenerate, infeasible and unbounded, by every method", "[lp]") {
  for (const LpMethod method : kMethods) {
    INFO("method " << static_cast<int>(method));
    CheckedLp lp(method);
    lp.model() = Degenerate();
    REQUIRE(lp.Solve() == LpStatus::kOptimal);
    CHECK(lp.solution().x[0] + lp.solution().x[1] == Approx(1.0).epsilon(1e-7));
    CHECK(CheckOptimality(lp.model(), lp.solution()).Within(1e-7));

    lp.model() = Degenerate();  // x + y >= 2 besides
    lp.model().AddEntry(0, 1.0);
    lp.model().AddEntry(1, 1.0);
    lp.model().EndRow(2.0, kLpInfinity);
    LpSolution unchanged;
    CHECK(LpSolver().Solve(lp.model(), method, unchanged) == LpStatus::kInfeasible);
    CHECK(unchanged.x.empty());
    CHECK(lp.Solve() == LpStatus::kInfeasible);
    CHECK(std::string(lp.failure()) == "the LP solver: infeasible");

    lp.model() = LpModel();  // max x - y, x - y >= -1
    lp.model().maximize = true;
    lp.model().AddColumn(1.0, 0.0, kLpInfinity);
    lp.model().AddColumn(-1.0, 0.0, kLpInfinity);
    lp.model().AddEntry(0, 1.0);
    lp.model().AddEntry(1, -1.0);
    lp.model().EndRow(-1.0, kLpInfinity);
    CHECK(lp.Solve() == LpStatus::kUnbounded);
    CHECK(lp.failed_checks() == 0);
  }
}

TEST_CASE("lp: what HiGHS refuses is a status, and no other method's answer is believed for it", "[lp]") {
  // HiGHS takes no coefficient of 1e15 or more: it fails before it solves. max x, 1e20 x <= 1.
  for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint}) {
    INFO("method " << static_cast<int>(method));
    CheckedLp lp(method);
    lp.model().maximize = true;
    lp.model().AddColumn(1.0, 0.0, kLpInfinity);
    lp.model().AddEntry(0, 1e20);
    lp.model().EndRow(-kLpInfinity, 1.0);
    LpSolution untouched;
    CHECK(LpSolver().Solve(lp.model(), method, untouched) == LpStatus::kError);
    CHECK(untouched.x.empty());
    CHECK(lp.Solve() == LpStatus::kError);
    CHECK(std::string(lp.failure()) == "the LP solver: error");
  }
}

// min 2x + 3y, 1 <= x + y <= 4, x - y >= -1, 0 <= x <= 3, y <= 5 free below: y falls until x + y = 1 with x
// at its bound 3: y = -2, objective 0; one more unit of the row is worth 3.
TEST_CASE("lp: the embedding on two-sided rows and a free column, with its dual", "[lp]") {
  LpModel model;
  model.AddColumn(2.0, 0.0, 3.0);
  model.AddColumn(3.0, -kLpInfinity, 5.0);
  model.AddEntry(0, 1.0);
  model.AddEntry(1, 1.0);
  model.EndRow(1.0, 4.0);
  model.AddEntry(0, 1.0);
  model.AddEntry(1, -1.0);
  model.EndRow(-1.0, kLpInfinity);
  LpSolution solution;
  REQUIRE(LpSolver().Solve(model, LpMethod::kEmbedding, solution) == LpStatus::kOptimal);
  CHECK(solution.objective == Approx(0.0).margin(1e-7));
  CHECK(solution.x[0] == Approx(3.0).epsilon(1e-7));
  CHECK(solution.x[1] == Approx(-2.0).epsilon(1e-7));
  CHECK(solution.row_dual[0] == Approx(3.0).epsilon(1e-7));
  CHECK(solution.row_dual[1] == Approx(0.0).margin(1e-7));
  CHECK(CheckOptimality(model, solution).Within(1e-7));
  model.upper[0] = 0.0;  // a fixed column leaves no interior
  CHECK(LpSolver().Solve(model, LpMethod::kEmbedding, solution) == LpStatus::kError);
}

// One job of gang g on W GPUs of its fastest type: all its time there if g <= W, level T; else W / g of it.
// One type for m jobs at one speed: equal levels W / sum of gangs, or 1.
TEST_CASE("lp: one job, and one type, have closed forms", "[lp][gavel]") {
  for (const LpMethod method : kMethods) {
    INFO("method " << static_cast<int>(method));
    LevelLp lp(method);
    LevelAnswer answer;
    Problem one;
    one.workers = {4, 2};
    one.key = {0};
    one.gang = {4};
    one.weight = {1.0};
    one.throughput = {1.0, 6.0};  // half its time on the second type, the other half on the first: 3.5
    REQUIRE(lp.Maximize(one, one.throughput, answer));
    CHECK(answer.level == Approx(3.5).epsilon(1e-7));
    CHECK(answer.x[0] == Approx(0.5).epsilon(1e-6));
    CHECK(answer.x[1] == Approx(0.5).epsilon(1e-6));

    Problem many = Jobs(40, {10}, 3);
    std::fill(many.throughput.begin(), many.throughput.end(), 2.0);
    const double gangs = std::accumulate(many.gang.begin(), many.gang.end(), 0.0);
    REQUIRE(gangs > 10.0);
    REQUIRE(lp.Maximize(many, many.throughput, answer));
    CHECK(answer.level == Approx(2.0 * 10.0 / gangs).epsilon(1e-7));
    CHECK(lp.failed_checks() == 0);
  }
}

// 5,000 jobs on 3 x 1,250 GPUs. The interior methods' optima carry their own proofs and agree.
TEST_CASE("lp: five thousand jobs", "[lp][gavel]") {
  const Problem problem = Jobs(5000, {1250, 1250, 1250}, 4);
  std::vector<double> levels;
  for (const LpMethod method : {LpMethod::kInteriorPoint, LpMethod::kEmbedding}) {
    INFO("method " << static_cast<int>(method));
    LevelLp lp(method);
    Allocation x;
    double level = 0.0;
    REQUIRE(MaxMinFairness(problem, lp, x, &level));
    CHECK(lp.failed_checks() == 0);
    levels.push_back(level);
  }
  CHECK(levels[0] == Approx(levels[1]).epsilon(1e-6));
}

TEST_CASE("lp: out of time is a status, not an answer", "[lp][gavel]") {
  const Problem problem = Jobs(200, {50, 50, 50}, 5);
  for (const LpMethod method : kMethods) {
    INFO("method " << static_cast<int>(method));
    LevelLp lp(method, 0.0);
    Allocation x = {7.0};
    CHECK_FALSE(MaxMinFairness(problem, lp, x));
    CHECK(x == Allocation{7.0});
    CHECK(std::string(lp.failure()) == "the LP solver: time limit");
  }
}

namespace {

// Answers `good` times, then fails.
class Failing final : public Objective {
 public:
  explicit Failing(int good) : good_(good) {}
  bool Allocate(const Problem& problem, Allocation& x) override {
    if (good_-- <= 0) return false;
    x.assign(problem.throughput.size(), 0.125);
    return true;
  }

 private:
  int good_;
};

}  // namespace

// Two jobs are there at the first allocation, three at the second. Three jobs on 1 + 1 GPUs: the isolated
// share is 1/3 of each.
TEST_CASE("gavel: without an answer the fall-back stands in", "[gavel][lp]") {
  const Scenario scenario =
      test::Tiny({{"v100", 1}, {"k80", 1}}, {{2.0, 1.0}}, {{0, 900}, {0, 900}, {10, 900}});
  Simulator simulator(scenario);
  REQUIRE(simulator.AdvanceToDecision());
  PolicyAllocations previous("max_min", FallBack::kPrevious, std::make_unique<Failing>(1));
  PolicyAllocations isolated("finish_time_fairness", FallBack::kIsolated, std::make_unique<Failing>(1));
  const std::vector<int> two = {0, 1}, three = {0, 1, 2};
  for (PolicyAllocations* source : {&previous, &isolated}) {
    source->Reset(simulator.View(Knowledge::kBlind));
    Allocation x(4);
    source->Allocate(simulator.View(Knowledge::kBlind), two, x);
    CHECK(x == Allocation(4, 0.125));
    CHECK(source->fall_backs() == 0);
  }
  Decision nothing;
  REQUIRE(simulator.Apply(nothing).ok());
  REQUIRE(simulator.AdvanceToDecision());
  const double third = 1.0 / 3.0;
  Allocation x(6);
  previous.Allocate(simulator.View(Knowledge::kBlind), three, x);
  CHECK(x == Allocation{0.125, 0.125, 0.125, 0.125, third, third});
  CHECK(previous.fall_backs() == 1);
  x.assign(6, 0.0);
  isolated.Allocate(simulator.View(Knowledge::kBlind), three, x);
  CHECK(x == Allocation(6, third));
  CHECK(isolated.fall_backs() == 1);
}

namespace {

// Puts the first two jobs together for half of the time on the first type, once; then fails.
class FailingPairs final : public PackedObjective {
 public:
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    if (std::exchange(failed_, true)) return false;
    x = {Allocation(problem.base.throughput.size(), 0.125), {{0, 1}, {1, 2}}, {0.5, 0.0, 0.25, 0.25}};
    return true;
  }

 private:
  bool failed_ = false;
};

}  // namespace

// Of the pairs (0, 1) and (1, 2) the first has lost a job when the objective fails: the other keeps its shares.
TEST_CASE("gavel: without an answer pairs that are still here keep what they had", "[gavel][lp]") {
  ScenarioData data = test::TinyData({{"v100", 3}, {"k80", 1}}, {{1.0, 1.0}}, {{0, 10}, {0, 900}, {0, 900}});
  data.throughputs.pairs.assign(4, 0.5);
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const std::vector<int> all = {0, 1, 2}, left = {1, 2};
  PackedAllocations source("packed", FallBack::kPrevious, std::make_unique<FailingPairs>());
  source.Reset(simulator.View(Knowledge::kBlind));
  Allocation x;
  source.Allocate(simulator.View(Knowledge::kBlind), all, x);
  REQUIRE(source.pairs()->jobs.size() == 2);
  Decision decision;
  decision.Start(0, 0);
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  REQUIRE(simulator.View(Knowledge::kBlind).IsDone(0));
  source.Allocate(simulator.View(Knowledge::kBlind), left, x);
  CHECK(source.fall_backs() == 1);
  CHECK(x == Allocation(4, 0.125));
  REQUIRE(source.pairs()->jobs.size() == 1);
  CHECK(source.pairs()->jobs[0] == std::array{1, 2});
  CHECK(source.pairs()->share == Allocation{0.25, 0.25});
}

namespace {

// Keeps what it was asked.
class Listening final : public Objective {
 public:
  explicit Listening(Problem& heard) : heard_(heard) {}
  bool reads_future() const override { return true; }
  bool Allocate(const Problem& problem, Allocation& x) override {
    heard_ = problem;
    x = IsolatedAllocation(problem);
    return true;
  }

 private:
  Problem& heard_;
};

}  // namespace

// The v100s are out from 5 to 20 s. At 10 s neither job 0, for v100 alone, nor job 2, a gang of two where one k80 is left, is any
// part of the problem, and of the isolated split job 1 has all of the k80. At 30 s all are back: of 2 + 2 GPUs a third is 2/3 + 2/3 of
// a job's time, scaled down to all of it, and 1/3 + 1/3 of that of a gang of two.
TEST_CASE("gavel: who can run on nothing in service is no part of the problem", "[gavel]") {
  const Scenario scenario = test::With(
      test::TinyData({{"v100", 2}, {"k80", 2}}, {{2.0, 0.0}, {2.0, 1.0}},
                     {{0, 900, 0}, {0, 900, 1}, {0, 900, 1, 2}, {10, 900, 0}, {30, 900, 0}}),
      "failures(mtbf_h=0,events=5:20:gpu:v100/0|5:20:gpu:v100/1|5:20:gpu:k80/0)");
  Simulator simulator(scenario);
  const auto advance_to = [&](double time) {
    REQUIRE(simulator.AdvanceToDecision());
    while (simulator.View(Knowledge::kBlind).now() < time) {
      REQUIRE(simulator.Apply(Decision()).ok());
      REQUIRE(simulator.AdvanceToDecision());
    }
  };
  advance_to(10.0);
  Problem heard;
  PolicyAllocations source("x", FallBack::kPrevious, std::make_unique<Listening>(heard));
  source.Reset(simulator.View(Knowledge::kOracle));
  const std::vector<int> jobs = {0, 1, 2};
  Allocation x;
  source.Allocate(simulator.View(Knowledge::kOracle), jobs, x);
  CHECK(heard.workers == std::vector<int>{0, 1});
  CHECK(heard.key == std::vector<int>{1});
  CHECK(x == Allocation{0.0, 0.0, 0.0, 1.0, 0.0, 0.0});
  REQUIRE(simulator.Apply(Decision()).ok());
  advance_to(30.0);
  source.Allocate(simulator.View(Knowledge::kOracle), jobs, x);
  CHECK(heard.key == jobs);
  const double third = 1.0 / 3.0;
  const Allocation expected = {0.5, 0.5, 0.5, 0.5, third, third};
  for (std::size_t k = 0; k < x.size(); ++k) CHECK(x.at(k) == Approx(expected.at(k)).epsilon(1e-12));
}

// Nobody can run from 300 to 400 s, and from 100 to 500 s jobs of type 0 cannot: every objective, by every solver, goes on.
TEST_CASE("gavel: every objective goes on while GPUs are out of service", "[gavel]") {
  std::vector<std::string> specs = test::GavelSpecs();
  for (const char* more : {"gavel(solver=simplex)", "gavel(solver=ipm)", "gavel(solver=warm)", "gavel(ties=stable)",
                           "proportional_fairness", "gandiva"})
    specs.emplace_back(more);
  const ScenarioData data = test::TinyData(
      {{"v100", 2}, {"k80", 2}}, {{10.0, 0.0}, {0.0, 1.0}, {2.0, 1.9}},
      {{0, 4000, 0}, {0, 400, 1}, {0, 2000, 2}, {10, 2000, 2}, {20, 300, 1}, {350, 100, 2}, {450, 3000, 0}});
  for (const char* clock : {"event", "rounds(60)"}) {
    const Scenario scenario = test::With(data,
                                         "failures(mtbf_h=0,events=100:500:gpu:v100/0|100:500:gpu:v100/1|"
                                         "300:400:gpu:k80/0|300:400:gpu:k80/1)",
                                         clock);
    for (const std::string& spec : specs) {
      CAPTURE(clock, spec);
      for (const double end : test::Ends(spec, scenario)) CHECK(end < 1e5);
    }
  }
}

// At 10 s, job 0 not yet started. Deadlines are
// told as seconds left, tenants with weight and whether they serve in order.
TEST_CASE("gavel: what an objective is told", "[gavel]") {
  ScenarioData data = test::TinyData({{"v100", 1}, {"k80", 3}}, {{2.0, 1.0}}, {{0, 900}, {10, 600, 0, 2}});
  data.cluster.types[0].price_per_hour = 2.5;
  data.tenants = {{"a", 1.0, "fairness"}, {"b", 4.0, "fifo"}};
  data.jobs.tenant = {1, 0};
  data.jobs.deadline = {kNever, 510.0};
  data.jobs.weight = {1.0, 5.0};
  const Scenario scenario(std::move(data));
  Simulator simulator(scenario);
  REQUIRE(simulator.AdvanceToDecision());
  REQUIRE(simulator.Apply(Decision()).ok());
  REQUIRE(simulator.AdvanceToDecision());
  Problem heard;
  PolicyAllocations source("x", FallBack::kPrevious, std::make_unique<Listening>(heard));
  source.Reset(simulator.View(Knowledge::kOracle));
  Allocation x(4);
  source.Allocate(simulator.View(Knowledge::kOracle), std::vector<int>{0, 1}, x);
  CHECK(heard.workers == std::vector<int>{1, 3});
  CHECK(heard.type_names == std::vector<std::string>{"v100", "k80"});
  CHECK(heard.price == std::vector<double>{2.5, 0.0});
  CHECK(heard.key == std::vector<int>{0, 1});
  CHECK(heard.gang == std::vector<int>{1, 2});
  CHECK(heard.weight == std::vector<double>{1.0, 5.0});
  CHECK(heard.remaining == std::vector<double>{900.0, 600.0});
  CHECK(heard.since == std::vector<double>{10.0, 0.0});
  CHECK(heard.left == std::vector<double>{kNever, 500.0});
  CHECK(heard.tenant == std::vector<int>{1, 0});
  REQUIRE(heard.tenants.size() == 2);
  CHECK((heard.tenants[1].weight == 4.0 && heard.tenants[1].fifo && !heard.tenants[0].fifo));
  CHECK(TypesByName(heard) == std::vector<int>{1, 0});
  CHECK(BasisType(heard) == 0);

  data = scenario.data();
  data.tenants[1].inner_policy = "lottery";
  const Scenario lottery(std::move(data));
  Simulator other(lottery);
  REQUIRE(other.AdvanceToDecision());
  CHECK_THROWS_WITH(source.Allocate(other.View(Knowledge::kOracle), std::vector<int>{0}, x),
                    Catch::Contains("tenant 'b': inner_policy: expected fairness or fifo"));
}

TEST_CASE("gavel: a solver out of time is said once, and the run goes on", "[gavel][lp][cli]") {
  const test::TemporaryFolder folder;
  const auto run = [&folder](const std::string& spec) {
    const test::Outcome outcome = test::Berth(
        folder, Join("simulate --workload 'synthetic(rate=4,jobs=30)' --cluster v100=2,k80=2 --scheduler '",
                     spec, "' --json row.json"));
    CHECK(outcome.code == 0);
    return outcome.error;
  };
  for (const char* solver : {"ipm", "simplex", "reference"}) {
    const std::string error = run(Join("gavel(objective=makespan,lp_time_limit_s=0,solver=", solver, ")"));
    CHECK(error ==
          "gavel(objective=makespan): the LP solver: time limit; the previous allocation is used (said "
          "once)\n");
  }
  CHECK(run("gavel(objective=finish_time_fairness,lp_time_limit_s=0)") ==
        "gavel(objective=finish_time_fairness): the LP solver: time limit; the isolated split is used (said "
        "once)\n");
  // All at once and by generated columns, with the m programs of the discounts, and columns from the last answer.
  for (const char* objective : {"proportional_fairness", "proportional_fairness,solver=warm", "strategy_proof",
                                "max_sum_throughput,solver=warm", "max_throughput_per_cost,solver=warm"}) {
    const std::string name = Join("gavel(objective=", objective), alone = name.substr(0, name.find(','));
    CHECK(run(Join(name, ",lp_time_limit_s=0)")) ==
          Join(alone, "): the LP solver: time limit; the previous allocation is used (said once)\n"));
    CHECK(run(Join(name, ",lp_time_limit_s=600)")).empty());
  }
  CHECK(run("gavel(objective=makespan)").empty());
}

// Jobs of gangs 1, 1, 1, 2 on one v100, one p100 and two k80, in steps/s and in units that are 1e9 times as
// long or as short. The prices prove the sum: 9.5 is what no allocation passes.
TEST_CASE("gavel: the most throughput does not hang on the unit of speed", "[gavel]") {
  for (const double unit : {1e-9, 1.0, 1e9}) {
    for (const LpMethod method : kMethods) {
      CAPTURE(unit);
      Problem problem;
      problem.type_names = {"v100", "p100", "k80"};
      problem.workers = {1, 1, 2};
      problem.price = {0.0, 0.0, 0.0};
      problem.key = {0, 1, 2, 3};
      problem.gang = {1, 1, 1, 2};
      problem.weight.assign(4, 1.0);
      problem.remaining.assign(4, 100.0 * unit);
      problem.left.assign(4, kLpInfinity);
      for (const double speed : {4.0, 2.0, 1.0, 6.0, 3.0, 2.0, 2.0, 2.0, 1.0, 8.0, 3.0, 1.0})
        problem.throughput.push_back(speed * unit);
      ThroughputSum sum(method);
      Allocation x;
      std::vector<double> price;
      const auto total = [&] {
        double found = 0.0;
        for (std::size_t k = 0; k < x.size(); ++k) found += problem.throughput[k] * x[k];
        return found / unit;
      };
      REQUIRE(sum.Solve(problem, Prices(problem), false, x, nullptr, &price));
      CHECK(total() == Approx(9.5).epsilon(1e-6));
      const double least = *std::min_element(price.begin(), price.end());
      CHECK(least >= -1e-6 * unit);
      CHECK(*std::max_element(price.begin(), price.end()) > 0.1 * unit);
      // Job 2 by 80 s needs 1.25 steps/s, more than k80 gives it.
      problem.left[2] = 80.0;
      bool feasible = false;
      REQUIRE(sum.Solve(problem, Prices(problem), true, x, &feasible));
      CHECK(feasible);
      CHECK(EffectiveThroughput(problem, x)[2] / unit >= 1.25 - 1e-6);
    }
  }
}

}  // namespace berth::gavel
