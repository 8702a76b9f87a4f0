// Gavel's policies against what their authors' figures do not cover: closed forms, exhaustive search, and the
// mixed-integer program that the exact bottleneck test stands in for.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "baselines/gavel/allox.hpp"
#include "baselines/gavel/nash_welfare.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/water_filling.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/certified_problems.hpp"

namespace berth::gavel {
namespace {

const std::vector<std::string> kNames = {"k80", "p100", "v100"};

// Jobs of random speeds on one to three types; gangs only where asked.
Problem RandomProblem(std::uint32_t round, int most_jobs, bool gangs) {
  Stream random(31, Purpose::kTest, Split::kTrain, round);
  Problem problem;
  const int types = 1 + static_cast<int>(random.Below(3));
  for (int j = 0; j < types; ++j) {
    problem.type_names.push_back(kNames[static_cast<std::size_t>(j)]);
    problem.workers.push_back(gangs ? 4 + static_cast<int>(random.Below(5))
                                    : 1 + static_cast<int>(random.Below(3)));
    problem.price.push_back(0.0);
  }
  const int jobs = 1 + static_cast<int>(random.Below(static_cast<std::uint32_t>(most_jobs)));
  problem.tenants = {{1.0, false}, {2.0, false}, {3.0, true}};
  for (int i = 0; i < jobs; ++i) {
    problem.key.push_back(i);
    problem.gang.push_back(gangs ? 1 << random.Below(3) : 1);
    problem.weight.push_back(random.Below(4) == 0 ? 5.0 : 1.0);
    problem.remaining.push_back(random.Uniform(100.0, 10000.0));
    problem.since.push_back(random.Uniform(0.0, 5000.0));
    problem.left.push_back(kLpInfinity);
    problem.tenant.push_back(static_cast<int>(random.Below(3)));
    for (int j = 0; j < types; ++j) problem.throughput.push_back(random.Uniform(0.5, 8.0));
  }
  return problem;
}

double Violation(const Problem& problem, const Allocation& x) {
  double worst = 0.0;
  for (int i = 0; i < problem.jobs(); ++i) {
    double sum = 0.0;
    for (int j = 0; j < problem.types(); ++j) {
      worst = std::max(worst, -x[problem.at(i, j)]);
      sum += x[problem.at(i, j)];
    }
    worst = std::max(worst, sum - 1.0);
  }
  for (int j = 0; j < problem.types(); ++j) {
    double used = 0.0;
    for (int i = 0; i < problem.jobs(); ++i) {
      used += problem.gang[static_cast<std::size_t>(i)] * x[problem.at(i, j)];
    }
    worst = std::max(worst, used - problem.workers[static_cast<std::size_t>(j)]);
  }
  return worst;
}

// As Gavel's WaterFillingAlgorithm: levels by LP, bottlenecks by the mixed-integer program with its
// tolerances, without the cap. [m] net.
std::vector<double> FilledByInteger(const Problem& problem, bool by_tenant) {
  const std::size_t m = problem.key.size();
  const std::vector<double> prop = ProportionalThroughput(problem);
  std::vector<double> so_far(m, 0.0), weight = problem.weight;
  std::vector<char> saturated(m, 0);
  double most = 0.0;
  for (std::size_t k = 0; k < problem.throughput.size(); ++k) {
    const std::size_t i = k / problem.workers.size();
    most = std::max(most, problem.gang[i] * problem.throughput[k] / prop[i]);
  }
  LpSolver solver;
  LpSolution solution;
  const auto row = [&](LpModel& model, std::size_t i, double scale) {
    for (int j = 0; j < problem.types(); ++j) {
      const std::size_t at = problem.at(static_cast<int>(i), j);
      model.AddEntry(static_cast<int>(at), problem.throughput[at] / prop[i] * scale);
    }
  };
  while (std::count(saturated.begin(), saturated.end(), 1) < static_cast<int>(m)) {
    for (std::size_t e = 0; by_tenant && e < problem.tenants.size(); ++e) {
      double sum = 0.0;
      bool first = true;
      for (std::size_t i = 0; i < m; ++i) {
        if (problem.tenant[i] == static_cast<int>(e) && saturated[i] == 0) sum += problem.weight[i];
      }
      for (std::size_t i = 0; i < m; ++i) {
        if (problem.tenant[i] != static_cast<int>(e)) continue;
        weight[i] = 0.0;
        if (saturated[i] != 0) continue;
        if (!problem.tenants[e].fifo) weight[i] = problem.tenants[e].weight * problem.weight[i] / sum;
        if (problem.tenants[e].fifo && first) weight[i] = problem.tenants[e].weight;
        first = false;
      }
    }
    LpModel model;
    model.maximize = true;
    AddShares(problem, {}, model);
    const int level = model.AddColumn(1.0, 0.0, kLpInfinity);
    AddBaseRows(problem, model);
    for (std::size_t i = 0; i < m; ++i) {
      const bool rises = saturated[i] == 0 && weight[i] > 0.0;
      const double scale = rises ? problem.gang[i] / weight[i] : 1.0;
      row(model, i, scale);
      if (rises) model.AddEntry(level, -1.0);
      model.EndRow(so_far[i] * scale * (1.0 - 1e-9), kLpInfinity);
    }
    REQUIRE(solver.Solve(model, LpMethod::kSimplex, solution) == LpStatus::kOptimal);
    const double c = solution.x[static_cast<std::size_t>(level)];
    for (std::size_t i = 0; i < m; ++i) {
      if (saturated[i] == 0) so_far[i] += c * weight[i] / problem.gang[i];
    }
    LpModel choice;
    choice.maximize = true;
    AddShares(problem, {}, choice);
    const int z = choice.columns();
    for (std::size_t i = 0; i < m; ++i) {
      const bool may = saturated[i] == 0 && weight[i] > 0.0;
      choice.integer.push_back(choice.AddColumn(1.0, 0.0, may ? 1.0 : 0.0));
    }
    AddBaseRows(problem, choice);
    for (std::size_t i = 0; i < m; ++i) {
      const int own = z + static_cast<int>(i);
      if (saturated[i] == 0 && weight[i] > 0.0) {
        // There 1.0001 so_far and an offset of 1e-5, which leave a job below 0.1 no choice; here 1e-5 at
        // least.
        const double risen = so_far[i] + 1e-4 * std::max(so_far[i], 0.1);
        row(choice, i, -1.0);  // M z >= net - risen
        choice.AddEntry(own, most);
        choice.EndRow(-risen, kLpInfinity);
        row(choice, i, 1.0);  // M (1 - z) >= risen - net
        choice.AddEntry(own, -most);
        choice.EndRow(risen - most, kLpInfinity);
      }
      row(choice, i, 1.0);
      choice.EndRow(so_far[i] * (1.0 - 1e-9), kLpInfinity);
    }
    REQUIRE(solver.Solve(choice, LpMethod::kSimplex, solution) == LpStatus::kOptimal);
    bool any = false;
    for (std::size_t i = 0; i < m; ++i) {
      if (saturated[i] != 0 || weight[i] <= 0.0 || solution.x[static_cast<std::size_t>(z) + i] > 0.5)
        continue;
      saturated[i] = 1;
      any = true;
    }
    if (!any) break;
  }
  return so_far;
}

double Geometric(const std::vector<double>& utility) {
  double product = 1.0;
  for (double u : utility) product *= u;
  return std::pow(product, 1.0 / static_cast<double>(utility.size()));
}

}  // namespace

// A job that the program's tolerance of 1e-4 takes for a bottleneck could rise by that much yet; none of
// these instances has one, so the levels agree as closely as the LPs are solved.
TEST_CASE("gavel: exact water filling finds the bottlenecks of the mixed-integer program", "[gavel]") {
  for (std::uint32_t round = 0; round < 24; ++round) {
    const Problem problem = RandomProblem(round, 8, round % 2 == 1);
    for (const bool by_tenant : {false, true}) {
      INFO("round " << round << (by_tenant ? " by tenant" : ""));
      WaterFilling filling(LpMethod::kSimplex);
      WaterLevels levels;
      REQUIRE(filling.Solve(problem, {.by_tenant = by_tenant}, levels));
      CHECK(Violation(problem, levels.x) <= 1e-7);
      const std::vector<double> expected = FilledByInteger(problem, by_tenant);
      double worst = 0.0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(levels.saturated[i]);
        CHECK(levels.net[i] == Approx(levels.promised[i]).epsilon(1e-6).margin(1e-8));
        worst = std::max(worst, std::abs(levels.net[i] - expected[i]) / std::max(expected[i], 0.1));
      }
      CHECK(worst <= 1e-6);
    }
  }
}

// One GPU, three jobs of weights 1, 1 and 2 at one speed: shares 1/4, 1/4, 1/2. With a second GPU: the heavy
// job would have 1 of 2, all its time; the others 1/2 each. With three GPUs: it is stuck at 1, the others
// rise from 3/4 to 1.
TEST_CASE("gavel: water filling by hand", "[gavel]") {
  Problem problem;
  problem.type_names = {"v100"};
  problem.key = {0, 1, 2};
  problem.gang = {1, 1, 1};
  problem.weight = {1.0, 1.0, 2.0};
  problem.throughput = {3.0, 3.0, 3.0};
  const std::vector<std::vector<double>> shares = {{0.25, 0.25, 0.5}, {0.5, 0.5, 1.0}, {1.0, 1.0, 1.0}};
  for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint, LpMethod::kEmbedding}) {
    for (int workers = 1; workers <= 3; ++workers) {
      problem.workers = {workers};
      WaterFilling filling(method);
      WaterLevels levels;
      REQUIRE(filling.Solve(problem, {}, levels));
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(levels.x[i] == Approx(shares[static_cast<std::size_t>(workers - 1)][i]).epsilon(1e-6));
      }
    }
    // Tenants of weights 1 (jobs 0 and 1, in order) and 3 (job 2) on one GPU: 1/4 to job 0 alone, 3/4 to
    // job 2.
    problem.workers = {1};
    problem.tenant = {0, 0, 1};
    problem.tenants = {{1.0, true}, {3.0, false}};
    WaterFilling filling(method);
    WaterLevels levels;
    REQUIRE(filling.Solve(problem, {.by_tenant = true}, levels));
    CHECK(levels.x[0] == Approx(0.25).epsilon(1e-6));
    CHECK(levels.x[1] == Approx(0.0).margin(1e-6));
    CHECK(levels.x[2] == Approx(0.75).epsilon(1e-6));
  }
}

TEST_CASE("gavel: the cheapest assignment against every permutation", "[gavel]") {
  for (std::uint32_t round = 0; round < 40; ++round) {
    Stream random(32, Purpose::kTest, Split::kTrain, round);
    const int rows = 1 + static_cast<int>(random.Below(5)),
              columns = rows + static_cast<int>(random.Below(3));
    std::vector<double> cost(static_cast<std::size_t>(rows * columns));
    for (double& c : cost) c = random.Below(3) == 0 ? 1.0 : random.Uniform(0.0, 10.0);
    std::vector<int> order(static_cast<std::size_t>(columns));
    std::iota(order.begin(), order.end(), 0);
    double best = 1e300;
    do {
      double sum = 0.0;
      for (int r = 0; r < rows; ++r)
        sum += cost[static_cast<std::size_t>(r * columns + order[static_cast<std::size_t>(r)])];
      best = std::min(best, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    const std::vector<int> found = CheapestAssignment(cost, rows, columns);
    double sum = 0.0;
    std::vector<char> used(static_cast<std::size_t>(columns), 0);
    for (int r = 0; r < rows; ++r) {
      const auto c = static_cast<std::size_t>(found[static_cast<std::size_t>(r)]);
      CHECK(used.at(c) == 0);
      used[c] = 1;
      sum += cost[static_cast<std::size_t>(r * columns) + c];
    }
    CHECK(sum == Approx(best).epsilon(1e-12));
  }
}

// The matching over m places on each of n workers, as the paper states it, costs what ours over evenly filled
// queues does.
TEST_CASE("gavel: AlloX loses nothing by its short queues", "[gavel]") {
  for (std::uint32_t round = 0; round < 20; ++round) {
    INFO("round " << round);
    const Problem problem = RandomProblem(100 + round, 9, false);
    std::vector<double> cost;
    const int m = problem.jobs();
    int columns = 0;
    for (int i = 0; i < m; ++i) {
      columns = 0;
      for (int j = 0; j < problem.types(); ++j) {
        for (int worker = 0; worker < problem.workers[static_cast<std::size_t>(j)]; ++worker) {
          for (int k = 1; k <= m; ++k, ++columns) {
            cost.push_back(k * problem.remaining[static_cast<std::size_t>(i)] /
                               problem.throughput[problem.at(i, j)] +
                           problem.since[static_cast<std::size_t>(i)]);
          }
        }
      }
    }
    const std::vector<int> full = CheapestAssignment(cost, m, columns);
    double expected = 0.0;
    for (int i = 0; i < m; ++i) {
      expected += cost[static_cast<std::size_t>(i * columns + full[static_cast<std::size_t>(i)])];
    }
    Allox allox;
    double found = 0.0;
    const Allocation x = allox.Allocate(problem, &found);
    CHECK(found == Approx(expected).epsilon(1e-12));
    CHECK(Violation(problem, x) == 0.0);
  }
}

TEST_CASE("gavel: a problem that is cleared keeps nothing of the last cluster", "[gavel]") {
  Problem problem = RandomProblem(1, 5, false);
  problem.type_names.assign(problem.workers.size(), "v100");
  problem.Clear();
  CHECK((problem.workers.empty() && problem.type_names.empty() && problem.tenants.empty()));
  CHECK((problem.key.empty() && problem.gang.empty() && problem.tenant.empty() && problem.weight.empty()));
  CHECK((problem.throughput.empty() && problem.remaining.empty() && problem.since.empty()));
  CHECK((problem.left.empty() && problem.price.empty()));
}

// Two GPUs: the job of 1 s goes first on one, with one of the others behind it; the other GPU begins with the third.
TEST_CASE("gavel: AlloX leaves no worker idle whose queue is the shorter one", "[gavel]") {
  Problem problem;
  problem.type_names = {"v100"};
  problem.workers = {2};
  problem.key = {0, 1, 2};
  problem.gang = {1, 1, 1};
  problem.weight = {1.0, 1.0, 1.0};
  problem.throughput = {1.0, 1.0, 1.0};
  problem.remaining = {10.0, 5.0, 1.0};
  problem.since = {0.0, 0.0, 0.0};
  Allox allox;
  double cost = 0.0;
  const Allocation x = allox.Allocate(problem, &cost);
  CHECK(cost == Approx(2.0 * 1.0 + 5.0 + 10.0));
  CHECK(x[2] == 1.0);
  CHECK(x[0] + x[1] == 1.0);
}

// One GPU, jobs of 10, 5 and 1 s: the shortest first. It keeps the GPU though a shorter one comes; when it
// has gone, the next shortest is taken.
TEST_CASE("gavel: AlloX is shortest first on one worker and never takes a GPU away", "[gavel]") {
  Problem problem;
  problem.type_names = {"v100"};
  problem.workers = {1};
  problem.key = {0, 1, 2};
  problem.gang = {1, 1, 1};
  problem.weight = {1.0, 1.0, 1.0};
  problem.throughput = {1.0, 1.0, 1.0};
  problem.remaining = {10.0, 5.0, 1.0};
  problem.since = {0.0, 0.0, 0.0};
  Allox allox;
  double cost = 0.0;
  CHECK(allox.Allocate(problem, &cost) == Allocation{0.0, 0.0, 1.0});
  CHECK(cost == Approx(3.0 * 1.0 + 2.0 * 5.0 + 1.0 * 10.0));
  problem.remaining = {10.0, 0.5, 0.9};
  CHECK(allox.Allocate(problem) == Allocation{0.0, 0.0, 1.0});
  problem.key = {0, 1};
  problem.gang = {1, 1};
  problem.throughput = {1.0, 1.0};
  problem.remaining = {10.0, 5.0};
  problem.since = {1.0, 1.0};
  CHECK(allox.Allocate(problem) == Allocation{0.0, 1.0});
  allox.Reset();
  problem.gang = {1, 2};
  CHECK_THROWS_AS(allox.Allocate(problem), Error);
}

// Both can run on the k80 alone: the shorter one goes first, and the other has nothing while the v100 is the only one free.
TEST_CASE("gavel: AlloX gives no job a type on which it cannot run", "[gavel]") {
  Problem problem;
  problem.type_names = {"k80", "v100"};
  problem.workers = {1, 1};
  problem.key = {0, 1};
  problem.gang = {1, 1};
  problem.weight = {1.0, 1.0};
  problem.throughput = {1.0, 0.0, 1.0, 0.0};
  problem.remaining = {10.0, 5.0};
  problem.since = {0.0, 0.0};
  Allox allox;
  CHECK(allox.Allocate(problem) == Allocation{0.0, 0.0, 1.0, 0.0});
  CHECK(allox.Allocate(problem) == Allocation{0.0, 0.0, 1.0, 0.0});
  problem.key = {0};
  problem.gang = {1};
  problem.throughput = {1.0, 0.0};
  problem.remaining = {10.0};
  problem.since = {5.0};
  CHECK(allox.Allocate(problem) == Allocation{1.0, 0.0});
}

// m equal jobs share equally. Two jobs on one GPU of speeds 1 and 7: Nash welfare is blind to scale, a half
// each; alone each would have all of it, so each leaves the other half of what it had: discounts 1/2.
TEST_CASE("gavel: Nash welfare and its discounts by hand", "[gavel]") {
  Problem problem;
  problem.type_names = {"v100"};
  problem.workers = {1};
  problem.key = {0, 1};
  problem.gang = {1, 1};
  problem.weight = {1.0, 1.0};
  problem.throughput = {1.0, 7.0};
  NashAnswer answer;
  std::vector<double> discount;
  REQUIRE(NashWelfare(problem, answer));
  REQUIRE(StrategyProofDiscounts(problem, answer, discount));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(answer.x[i] == Approx(0.5).epsilon(1e-7));
    CHECK(discount[i] == Approx(0.5).epsilon(1e-7));
  }
  problem.workers = {2};  // room for both: nobody is in the way
  REQUIRE(NashWelfare(problem, answer));
  REQUIRE(StrategyProofDiscounts(problem, answer, discount));
  CHECK(answer.x[0] == Approx(1.0).epsilon(1e-7));
  CHECK(discount[0] == Approx(1.0).epsilon(1e-7));
}

// No random feasible point does better, the gap is proven, and a job that lies about its speeds does not gain
// (Cole et al., theorem 3.1).
TEST_CASE("gavel: Nash welfare is the largest, and lying does not pay", "[gavel]") {
  for (std::uint32_t round = 0; round < 8; ++round) {
    INFO("round " << round);
    const Problem problem = RandomProblem(200 + round, 6, round % 2 == 1);
    NashAnswer answer;
    std::vector<double> discount;
    REQUIRE(NashWelfare(problem, answer));
    REQUIRE(StrategyProofDiscounts(problem, answer, discount));
    CHECK(Violation(problem, answer.x) <= 1e-9);
    CHECK(answer.geometric_mean == Approx(Geometric(answer.utility)).epsilon(1e-9));
    Stream random(33, Purpose::kTest, Split::kTrain, round);
    const std::vector<double> prop = ProportionalThroughput(problem);
    for (int attempt = 0; attempt < 200; ++attempt) {
      Allocation x(problem.throughput.size());
      for (double& share : x) share = random.Uniform();
      double scale = 1.0;  // into the constraints
      for (int i = 0; i < problem.jobs(); ++i) {
        double sum = 0.0;
        for (int j = 0; j < problem.types(); ++j) sum += x[problem.at(i, j)];
        for (int j = 0; j < problem.types(); ++j) x[problem.at(i, j)] /= std::max(1.0, sum);
      }
      for (int j = 0; j < problem.types(); ++j) {
        double used = 0.0;
        for (int i = 0; i < problem.jobs(); ++i) {
          used += problem.gang[static_cast<std::size_t>(i)] * x[problem.at(i, j)];
        }
        scale = std::max(scale, used / problem.workers[static_cast<std::size_t>(j)]);
      }
      std::vector<double> utility = EffectiveThroughput(problem, x);
      for (std::size_t i = 0; i < utility.size(); ++i) {
        utility[i] *= problem.gang[i] / (problem.weight[i] * prop[i] * scale);
      }
      CHECK(Geometric(utility) <= answer.geometric_mean * (1.0 + 1e-9));
    }
    Problem lie = problem;
    for (int j = 0; j < problem.types(); ++j) lie.throughput[problem.at(0, j)] = random.Uniform(0.5, 8.0);
    NashAnswer told;
    std::vector<double> told_discount;
    REQUIRE(NashWelfare(lie, told));
    REQUIRE(StrategyProofDiscounts(lie, told, told_discount));
    const double honest = discount[0] * EffectiveThroughput(problem, answer.x)[0];
    const double lying = told_discount[0] * EffectiveThroughput(problem, told.x)[0];
    CHECK(lying <= honest * (1.0 + 1e-6));
  }
}

// Forty jobs of two kinds alone: degenerate, since which of the alike gets which type is all the same. Equal
// jobs get equal utilities, and the proven gap holds.
TEST_CASE("gavel: Nash welfare of many alike", "[gavel]") {
  Problem problem;
  problem.type_names = {"k80", "v100"};
  problem.workers = {8, 8};
  for (int i = 0; i < 40; ++i) {
    problem.key.push_back(i);
    problem.gang.push_back(i % 4 == 3 ? 2 : 1);
    problem.weight.push_back(1.0);
    for (const double rate : i % 2 == 0 ? std::vector<double>{1.0, 3.0} : std::vector<double>{1.5, 2.0}) {
      problem.throughput.push_back(rate);
    }
  }
  NashAnswer answer;
  REQUIRE(NashWelfare(problem, answer));
  CHECK(answer.gap <= 40 * kNashGap);
  CHECK(Violation(problem, answer.x) <= 1e-9);
  for (std::size_t i = 4; i < 40; ++i)
    CHECK(answer.utility[i] == Approx(answer.utility[i % 4]).epsilon(1e-6));
}

// Time and GPUs run out at once, so that prices are 0 where nothing is left: searches end early on these of
// 1,000,000, some of them dozens of times.
TEST_CASE("gavel: Nash welfare where rounding ends a search", "[gavel]") {
  for (const std::uint32_t round : {288u, 1015u, 1256u, 3639u, 4221u, 32752u, 36346u, 98754u, 817540u}) {
    CAPTURE(round);
    const Problem problem = test::RandomProblem(round);
    NashAnswer answer;
    REQUIRE(NashWelfare(problem, answer));
    CHECK(answer.gap <= problem.jobs() * kNashGap);
    CHECK(Violation(problem, answer.x) <= 1e-12);
  }
}

// Two GPUs, job speeds 4 and 1 on v100, 1 and 1 on k80. Most steps: 4 + 1. Per cost with v100 at 8 and k80 at
// 1: k80 is worth 1 to either, v100 1/2 to job 0 and 1/8 to job 1: job 0 on v100 and job 1 on k80 give 1.5.
// With job 1's deadline at 0.4 steps/s and job 0's at 4 steps/s the same; at 5 steps/s job 0 cannot: no
// deadline counts.
TEST_CASE("gavel: throughput, per cost and with deadlines, by hand", "[gavel]") {
  Problem problem;
  problem.type_names = {"k80", "v100"};
  problem.workers = {1, 1};
  problem.price = {0.0, 0.0};
  problem.key = {0, 1};
  problem.gang = {1, 1};
  problem.weight = {1.0, 1.0};
  problem.throughput = {1.0, 4.0, 1.0, 1.0};
  problem.remaining = {400.0, 40.0};
  problem.left = {kLpInfinity, kLpInfinity};
  CHECK(Prices(problem) == std::vector<double>{1.0, 1.0});
  for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint, LpMethod::kEmbedding}) {
    ThroughputSum sum(method);
    Allocation x;
    bool feasible = false;
    REQUIRE(sum.Solve(problem, Prices(problem), false, x));
    const std::vector<double> speed = EffectiveThroughput(problem, x);
    CHECK(speed[0] + speed[1] == Approx(5.0).epsilon(1e-6));
    problem.price = {1.0, 8.0};
    problem.left = {100.0, 100.0};
    REQUIRE(sum.Solve(problem, Prices(problem), true, x, &feasible));
    CHECK(feasible);
    CHECK(x[0] + x[1] / 2.0 * 1.0 + x[2] + x[3] / 8.0 == Approx(1.5).epsilon(1e-6));
    problem.left = {80.0, 100.0};
    REQUIRE(sum.Solve(problem, Prices(problem), true, x, &feasible));
    CHECK_FALSE(feasible);
    CHECK(x[0] + x[1] / 2.0 + x[2] + x[3] / 8.0 == Approx(1.5).epsilon(1e-6));
    problem.left = {-1.0, 100.0};  // gone by: asks for nothing
    REQUIRE(sum.Solve(problem, Prices(problem), true, x, &feasible));
    CHECK(feasible);
    problem.price = {0.0, 0.0};
  }
  problem.price = {0.0, 2.0};
  CHECK_THROWS_WITH(Prices(problem), Catch::Contains("k80"));
}

// Jobs of gangs 1, 2, 1 on 2 + 1 GPUs, job 1 fits on p100 alone. Whatever is drawn, those that have GPUs keep
// them, and behind a job that does not fit nobody starts.
TEST_CASE("gavel: finish-time fairness of a job at its very end", "[gavel]") {
  // Job 0 has waited 1e4 s and has a billionth of a step left: whatever it is given, its ratio is at least
  // t / D with D = remaining / isolated, and a little speed brings it there; it decides the level alone.
  for (const double left : {1e-3, 1e-9, 1e-12}) {
    CAPTURE(left);
    Problem problem;
    problem.workers = {1, 1};
    problem.key = {0, 1};
    problem.gang = {1, 1};
    problem.weight = {1.0, 1.0};
    problem.throughput = {2.0, 1.0, 1.0, 3.0};
    problem.remaining = {left, 500.0};
    problem.since = {1e4, 10.0};
    for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint, LpMethod::kEmbedding}) {
      LevelLp lp(method);
      FinishTimeFairness fairness;
      Allocation x;
      double rho = 0.0;
      REQUIRE(fairness.Solve(problem, lp, x, &rho));
      // Isolated: half of each type, 1.5 steps/s for job 0. Its best is all of type 0, 2 steps/s.
      const double alone = left / 1.5;
      CHECK(rho == Approx((1e4 + left / 2.0) / alone).epsilon(1e-8));
    }
  }
}

TEST_CASE("gavel: the base FIFO keeps its jobs and its order", "[gavel]") {
  Problem problem;
  problem.type_names = {"k80", "p100"};
  problem.workers = {1, 2};
  problem.key = {0, 1, 2};
  problem.gang = {1, 2, 1};
  problem.throughput = {1.0, 1.0, 0.0, 3.0, 1.0, 1.0};
  int on_k80 = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    QueueInOrder queue;
    queue.Reset(seed);
    const Allocation first = queue.Allocate(problem);
    CHECK(first[0] + first[1] == 1.0);
    on_k80 += first[0] == 1.0 ? 1 : 0;
    CHECK(first[3] == (first[0] == 1.0 ? 1.0 : 0.0));  // both p100 GPUs only where job 0 left them
    CHECK(first[4] + first[5] == 0.0);                 // nothing is free, or job 1 is in front
    CHECK(queue.Allocate(problem) == first);
  }
  CHECK(on_k80 > 8);
  CHECK(on_k80 < 32);
}

// Neither moves a job otherwise, not even when the type is back.
TEST_CASE("gavel: who was given a type whose GPUs have all left is given another", "[gavel]") {
  Problem problem;
  problem.type_names = {"p100", "v100"};
  problem.key = {0};
  problem.gang = {1};
  problem.weight = {1.0};
  problem.throughput = {1.0, 2.0};
  problem.remaining = {10.0};
  problem.since = {0.0};
  QueueInOrder queue;
  queue.Reset(1);
  Allox allox;
  const auto both = [&](std::vector<int> workers, const Allocation& expected) {
    problem.workers = std::move(workers);
    CHECK(queue.Allocate(problem) == expected);
    CHECK(allox.Allocate(problem) == expected);
  };
  both({0, 1}, {0.0, 1.0});
  both({1, 0}, {1.0, 0.0});
  both({1, 1}, {1.0, 0.0});
}

}  // namespace berth::gavel
