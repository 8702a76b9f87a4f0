// Packed policies where the goldens do not reach: gangs of mixed sizes, on which the reference is wrong
// (Gavel's policies/policy.py reshapes rows as if all jobs had equally many combos), by hand and against a
// program written out here from the definition; and the thinning of combos, which may cost nothing.
#include <algorithm>
#include <vector>

#include "baselines/gavel/packed_objectives.hpp"
#include "baselines/gavel/water_filling.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/certified_problems.hpp"

namespace berth::gavel {
namespace {

PackedProblem Make(std::vector<int> workers, std::vector<int> gang, std::vector<double> throughput) {
  PackedProblem problem;
  problem.base.workers = std::move(workers);
  problem.base.gang = std::move(gang);
  problem.base.throughput = std::move(throughput);
  for (int i = 0; i < static_cast<int>(problem.base.gang.size()); ++i) problem.base.key.push_back(i);
  const std::size_t m = problem.base.key.size();
  problem.base.weight.assign(m, 1.0);
  problem.base.remaining.assign(m, 100.0);
  problem.base.since.assign(m, 0.0);
  problem.base.left.assign(m, kLpInfinity);
  problem.beside.assign(m * problem.base.throughput.size(), 0.0);
  return problem;
}

void SetBeside(PackedProblem& problem, int a, int b, int type, double rate_a, double rate_b) {
  const int m = problem.base.jobs();
  problem.beside[problem.base.at(a * m + b, type)] = rate_a;
  problem.beside[problem.base.at(b * m + a, type)] = rate_b;
}

// Gangs of 1, 2 and 4; some cannot run somewhere; pairs that gain, lose, or cannot share.
PackedProblem Random(std::uint64_t seed) {
  Stream stream(seed, Purpose::kTest, Split::kEvaluate, 2);
  const int m = 2 + static_cast<int>(stream.Below(7)), types = 1 + static_cast<int>(stream.Below(3));
  std::vector<int> workers, gang;
  for (int j = 0; j < types; ++j) workers.push_back(4 + static_cast<int>(stream.Below(3)));
  std::vector<double> rates;
  for (int i = 0; i < m; ++i) {
    gang.push_back(stream.Below(3) == 0 ? (stream.Below(2) == 0 ? 2 : 4) : 1);
    for (int j = 0; j < types; ++j)
      rates.push_back(j > 0 && stream.Below(6) == 0 ? 0.0 : stream.Uniform(1.0, 9.0));
  }
  PackedProblem problem = Make(workers, gang, rates);
  for (int i = 0; i < m; ++i) {
    problem.base.weight[U(i)] = stream.Uniform(1.0, 5.0);
    problem.base.remaining[U(i)] = stream.Uniform(10.0, 1000.0);
    problem.base.since[U(i)] = stream.Uniform(0.0, 100.0);
    for (int k = 0; k < i; ++k) {
      for (int j = 0; j < types; ++j) {
        const double first = stream.Uniform(0.2, 1.0), second = stream.Uniform(0.2, 1.0);
        if (problem.base.gang[U(i)] != 1 || problem.base.gang[U(k)] != 1 || stream.Below(8) == 0) continue;
        SetBeside(problem, i, k, j, first * problem.base.throughput[problem.base.at(i, j)],
                  second * problem.base.throughput[problem.base.at(k, j)]);
      }
    }
  }
  return problem;
}

constexpr double kRising = -1.0;

// max min scale_i speed_i over the rising jobs, the others held at their floors; written out from the
// definition: a column for every job and every two jobs on every type, of any gangs and rates; combos that
// cannot run are held at 0.
double WrittenOut(const PackedProblem& problem, const std::vector<double>& scale,
                  std::vector<double> floor = {}) {
  const Problem& base = problem.base;
  floor.resize(scale.size(), kRising);
  struct Column {
    int a, b, type;
  };
  std::vector<Column> columns;
  LpModel model;
  model.maximize = true;
  for (int a = 0; a < base.jobs(); ++a) {
    for (int b = a; b < base.jobs(); ++b) {
      for (int j = 0; j < base.types(); ++j) {
        const bool runs = a == b || (problem.Beside(a, b, j) > 0.0 && problem.Beside(b, a, j) > 0.0);
        columns.push_back({a, b, j});
        model.AddColumn(0.0, 0.0, runs ? kLpInfinity : 0.0);
      }
    }
  }
  const int level = model.AddColumn(1.0, -kLpInfinity, kLpInfinity);
  for (int j = 0; j < base.types(); ++j) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].type == j) model.AddEntry(static_cast<int>(c), base.gang[U(columns[c].a)]);
    }
    model.EndRow(-kLpInfinity, base.workers[U(j)]);
  }
  for (int i = 0; i < base.jobs(); ++i) {
    for (const bool speed : {false, true}) {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto [a, b, type] = columns[c];
        if (a != i && b != i) continue;
        const double rate =
            a == b ? base.throughput[base.at(i, type)] : problem.Beside(i, a == i ? b : a, type);
        model.AddEntry(static_cast<int>(c), speed ? rate * scale[U(i)] : 1.0);
      }
      const bool rising = floor[U(i)] == kRising;
      if (speed && rising) model.AddEntry(level, -1.0);
      speed ? model.EndRow(rising ? 0.0 : floor[U(i)], kLpInfinity) : model.EndRow(-kLpInfinity, 1.0);
    }
  }
  LpSolver solver;
  LpSolution solution;
  REQUIRE(solver.Solve(model, LpMethod::kSimplex, solution) == LpStatus::kOptimal);
  return solution.objective;
}

}  // namespace

TEST_CASE("packed: gangs of mixed sizes, by hand") {
  // 2 GPUs; jobs 0 and 1 (gang 1) run at 1 alone and 0.8 beside each other, job 2 (gang 2) at 1. prop = 1, so
  // the level is c = speed_0 = speed_1 = 2 speed_2. Jobs 0 and 1 are alone for s each and together for 1 - s,
  // all of their time: c = s + 0.8 (1 - s). GPUs: 2 s + (1 - s) + 2 c / 2 <= 2 gives s = 1/6 and c = 5/6;
  // unpacked it is 3 c <= 2. The reference throws on such gangs or lets a job have 1.89 of its time.
  PackedProblem problem = Make({2}, {1, 1, 2}, {1.0, 1.0, 1.0});
  SetBeside(problem, 0, 1, 0, 0.8, 0.8);
  for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint, LpMethod::kEmbedding}) {
    PackedLp lp(method);
    PackedAllocation x;
    double level = 0.0;
    REQUIRE(PackedMaxMin(problem, lp, x, &level));
    CHECK(level == Approx(5.0 / 6.0).epsilon(1e-7));
    CHECK(x.alone[0] == Approx(1.0 / 6.0).epsilon(1e-5));
    CHECK(x.alone[2] == Approx(5.0 / 12.0).epsilon(1e-5));
    REQUIRE(x.pairs.size() == 1);
    CHECK(x.together[0] == Approx(5.0 / 6.0).epsilon(1e-5));
    CHECK(Violation(problem, x) <= 1e-7);
  }
  // 100 steps left each: now all three speeds are c. Together for p of the time is enough: c = 0.8 p, and
  // p + 2 c <= 2 gives p = 10/13, c = 8/13.
  PackedLp lp(LpMethod::kSimplex);
  PackedMakespanAnswer answer;
  REQUIRE(PackedMakespan(problem, lp, answer));
  CHECK(answer.seconds == Approx(100.0 * 13.0 / 8.0).epsilon(1e-9));
}

TEST_CASE("packed: random gangs of mixed sizes against the program written out, thinned and not") {
  int pairs_used = 0, thinned = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    PackedProblem problem = Random(seed);
    if (seed % 3 > 0) {  // few GPUs, so that sharing pays
      problem.base.gang.assign(problem.base.gang.size(), 1);
      problem.base.workers.assign(problem.base.workers.size(), 1);
    }
    const Problem& base = problem.base;
    const std::vector<double> prop = ProportionalThroughput(base);
    std::vector<double> fair, work;
    for (std::size_t i = 0; i < prop.size(); ++i) {
      fair.push_back(base.gang[i] / (base.weight[i] * prop[i]));
      work.push_back(1.0 / base.remaining[i]);
    }
    PackedLp lp(LpMethod::kSimplex);
    PackedAllocation x;
    double level = 0.0;
    REQUIRE(PackedMaxMin(problem, lp, x, &level));
    CHECK(level == Approx(WrittenOut(problem, fair)).epsilon(1e-8));
    CHECK(Violation(problem, x) <= 1e-9);
    pairs_used += static_cast<int>(x.pairs.size());
    PackedMakespanAnswer exact;
    REQUIRE(PackedMakespan(problem, lp, exact));
    CHECK(1.0 / exact.seconds == Approx(WrittenOut(problem, work)).epsilon(1e-8));
    // Finish-time fairness: at the ratio found, and only there, the written-out program reaches the level 1.
    PackedFinishTimeFairness fairness;
    double rho = 0.0;
    REQUIRE(fairness.Solve(problem, lp, x, &rho));
    CHECK(Violation(problem, x) <= 1e-9);
    const std::vector<double> isolated = EffectiveThroughput(base, IsolatedAllocation(base));
    std::vector<double> scale;
    for (std::size_t i = 0; i < prop.size(); ++i) {
      const double alone = base.remaining[i] / isolated[i];
      scale.push_back((rho * alone - base.since[i]) / (base.remaining[i] * base.weight[i]));
    }
    CHECK(WrittenOut(problem, scale) == Approx(1.0).epsilon(1e-7));

    const std::vector<Combo> useful = UsefulCombos(problem), all = AllCombos(problem);
    thinned += static_cast<int>(all.size() - useful.size());
    CHECK(test::LevelOver(useful, problem, fair) == Approx(test::LevelOver(all, problem, fair)).epsilon(1e-9));
  }
  CHECK(pairs_used > 50);
  CHECK(thinned > 50);
}

namespace {

std::vector<double> FairScale(const Problem& base) {
  std::vector<double> scale = ProportionalThroughput(base);
  for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = base.gang[i] / (base.weight[i] * scale[i]);
  return scale;
}

// Lexicographic max-min job by job: after each level, a job is held if the most that it alone could have,
// while the others keep theirs, is no more. What the others give way by, 1e-9, lets it rise by 1e-9 over its
// price: prices down to 1e-4 are told from none.
std::vector<double> LevelsOneByOne(const PackedProblem& problem, const std::vector<double>& scale) {
  std::vector<double> floor(scale.size(), kRising);
  while (std::count(floor.begin(), floor.end(), kRising) > 0) {
    const double level = WrittenOut(problem, scale, floor);
    std::vector<double> next = floor;
    for (std::size_t i = 0; i < floor.size(); ++i) {
      if (floor[i] != kRising) continue;
      std::vector<double> others = floor;
      for (double& f : others) f = f == kRising ? level * (1.0 - 1e-9) : f;
      others[i] = kRising;
      if (WrittenOut(problem, scale, others) <= level * (1.0 + 1e-5)) next[i] = level * (1.0 - 1e-9);
    }
    REQUIRE(next != floor);
    floor = next;
  }
  return floor;
}

}  // namespace

TEST_CASE("packed: water filling, by the unpacked one where nobody shares, and job by job where some do") {
  int several = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    PackedProblem problem = Random(seed);
    const std::vector<double> scale = FairScale(problem.base);
    for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint}) {
      PackedLp lp(method);
      PackedWaterLevels levels;
      REQUIRE(PackedWaterFilling(problem, lp, levels));
      const std::vector<double> expected = LevelsOneByOne(problem, scale);
      const std::vector<double> speed = EffectiveThroughput(problem, levels.x);
      for (std::size_t i = 0; i < scale.size(); ++i) {
        CHECK(levels.level[i] == Approx(expected[i]).epsilon(1e-6));
        CHECK(speed[i] * scale[i] >= expected[i] * (1.0 - 1e-6));
      }
      CHECK(Violation(problem, levels.x) <= 1e-7);
      several += *std::max_element(expected.begin(), expected.end()) > expected[0] * 1.01;
    }
    std::fill(problem.beside.begin(), problem.beside.end(), 0.0);
    PackedLp lp(LpMethod::kSimplex);
    PackedWaterLevels levels;
    REQUIRE(PackedWaterFilling(problem, lp, levels));
    WaterFilling unpacked(LpMethod::kSimplex);
    WaterLevels alone;
    REQUIRE(unpacked.Solve(problem.base, {}, alone));
    for (std::size_t i = 0; i < scale.size(); ++i) {
      const double level = alone.promised[i] * problem.base.gang[i] / problem.base.weight[i];
      CHECK(levels.level[i] == Approx(level).epsilon(1e-7));
    }
  }
  CHECK(several > 20);
}

TEST_CASE("packed: deadlines are kept by sharing where taking turns cannot, or none is") {
  // One GPU; both need 0.7 of their speed alone. In turns only one can; beside each other they run at 0.8.
  PackedProblem problem = Make({1}, {1, 1}, {1.0, 1.0});
  problem.base.left = {100.0 / 0.7, 100.0 / 0.7};
  PackedLp lp(LpMethod::kSimplex);
  PackedAllocation x;
  bool feasible = true;
  REQUIRE(PackedThroughputPerCost(problem, lp, std::vector<double>{1.0}, true, x, &feasible));
  CHECK_FALSE(feasible);
  SetBeside(problem, 0, 1, 0, 0.8, 0.8);
  REQUIRE(PackedThroughputPerCost(problem, lp, std::vector<double>{1.0}, true, x, &feasible));
  CHECK(feasible);
  const std::vector<double> speed = EffectiveThroughput(problem, x);
  CHECK(speed[0] + speed[1] == Approx(1.6));  // the most there is
}

TEST_CASE("packed: finish-time fairness where a job about to end decides the ratio") {
  // Job 0 has next to nothing left after 355 s of a life that alone would have taken 200: its ratio is 355 /
  // 200 at any speed, and the least ratio lies within rounding of that floor. Seen under clock hpc, where a
  // job may stand at its end.
  PackedProblem problem = Make({2}, {1, 1}, {2.0, 2.0});
  problem.base.remaining = {400.0, 600.0};
  PackedLp lp(LpMethod::kInteriorPoint);
  PackedFinishTimeFairness fairness;
  PackedAllocation x;
  double rho = 0.0;
  REQUIRE(fairness.Solve(problem, lp, x, &rho));
  problem.base.remaining = {4e-7, 500.0};
  problem.base.since = {355.0, 0.0};
  REQUIRE(fairness.Solve(problem, lp, x, &rho));
  CHECK(rho == Approx(355.0 / 200.0).epsilon(1e-8));
  CHECK(Violation(problem, x) <= 1e-7);
}

TEST_CASE(
    "packed: first in, first out fills up, then packs in order, and stops at the first that finds nobody") {
  // 2 GPUs. Jobs 0 and 1 have them. Job 2 gains 1.7 beside job 0 and 1.9 beside job 1, and takes job 1; job 3
  // would gain 1.6 beside job 1 only, which is taken, and stops the scan: job 4 waits although it fits job 0.
  PackedProblem problem = Make({2}, {1, 1, 1, 1, 1}, {1.0, 1.0, 1.0, 1.0, 1.0});
  SetBeside(problem, 0, 2, 0, 0.8, 0.9);
  SetBeside(problem, 1, 2, 0, 0.9, 1.0);
  SetBeside(problem, 1, 3, 0, 0.8, 0.8);
  SetBeside(problem, 0, 3, 0, 0.7, 0.8);  // 1.5 is not above 1.5
  SetBeside(problem, 0, 4, 0, 1.0, 1.0);
  const PackedAllocation x = PackedFifo(problem, {0});
  CHECK(x.alone == Allocation{1.0, 0.0, 0.0, 0.0, 0.0});
  REQUIRE(x.pairs == std::vector<std::array<int, 2>>{{1, 2}});
  CHECK(x.together == Allocation{1.0});
}

}  // namespace berth::gavel
