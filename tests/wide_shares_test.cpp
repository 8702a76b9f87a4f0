// Programs of shares with many types: the level against HiGHS' simplex method, logarithms against what prices
// prove, and both by hand.
#include "baselines/gavel/wide_shares.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "baselines/gavel/level_lp.hpp"
#include "baselines/gavel/nash_welfare.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth::gavel {
namespace {

// Rates over two decades, a third of them 0, gangs of 1 to 8; one type in four has a single GPU.
Problem ManyTypes(std::uint32_t round, int jobs, int types) {
  Stream random(21, Purpose::kTest, Split::kTrain, round);
  Problem problem;
  for (int j = 0; j < types; ++j) {
    problem.workers.push_back(random.Below(4) == 0 ? 1 : 1 + static_cast<int>(random.Below(6)));
    problem.type_names.push_back(Join("t", j));
  }
  for (int i = 0; i < jobs; ++i) {
    const auto can = static_cast<int>(random.Below(static_cast<std::uint32_t>(types)));
    problem.key.push_back(i);
    problem.gang.push_back(1 << random.Below(4));
    problem.weight.push_back(1.0 + static_cast<double>(random.Below(4)));
    for (int j = 0; j < types; ++j) {
      const bool runs = j == can || random.Below(3) > 0;
      problem.throughput.push_back(runs ? std::pow(10.0, random.Uniform(-1.0, 1.0)) : 0.0);
    }
  }
  return problem;
}

std::vector<double> WorthOf(const Problem& problem) {
  const std::vector<double> proportional = ProportionalThroughput(problem);
  std::vector<double> worth = problem.throughput;
  for (std::size_t k = 0; k < worth.size(); ++k) {
    const std::size_t i = k / problem.workers.size();
    worth[k] *= problem.gang[i] / (problem.weight[i] * proportional[i]);
  }
  return worth;
}

void CheckFits(const Problem& problem, const Allocation& x) {
  std::vector<double> used(problem.workers.size(), 0.0);
  for (int i = 0; i < problem.jobs(); ++i) {
    double time = 0.0;
    for (int j = 0; j < problem.types(); ++j) {
      const double share = x[problem.at(i, j)];
      CHECK(share >= 0.0);
      time += share;
      used[U(j)] += problem.gang[U(i)] * share;
    }
    CHECK(time <= 1.0 + 1e-9);
  }
  for (int j = 0; j < problem.types(); ++j) CHECK(used[U(j)] <= problem.workers[U(j)] * (1.0 + 1e-9));
}

}  // namespace

TEST_CASE("wide shares: the level is that of the simplex method", "[gavel][lp]") {
  for (std::uint32_t round = 0; round < 40; ++round) {
    const Problem problem = ManyTypes(round, 5 + static_cast<int>(round % 5) * 12, 25 + static_cast<int>(round));
    INFO("round " << round);
    const std::vector<double> worth = WorthOf(problem);
    LevelLp simplex(LpMethod::kSimplex), wide(LpMethod::kEmbedding);
    LevelAnswer vertex, found;
    REQUIRE(simplex.Maximize(problem, worth, vertex));
    REQUIRE(wide.Maximize(problem, worth, found));
    CHECK(wide.failed_checks() == 0);
    CHECK(found.level == Approx(vertex.level).epsilon(1e-7));
    CheckFits(problem, found.x);
    ShareProgram program;
    JobClasses classes;
    StateShares(problem, worth, {}, 1.0, program, classes);
    ShareAnswer answer;
    REQUIRE(SolveWideShares(program, ShareAim::kLevel, answer) == LpStatus::kOptimal);
    const ShareProof proof = Prove(program, answer);
    CHECK(proof.infeasibility <= 1e-9);
    CHECK(proof.bound - proof.reached <= 2e-8 * proof.bound);
  }
}

// Of a sum of logarithms no share may be moved for a gain: at prices p of GPUs and q of time, with z = 1 / U_i,
// worth_ij z <= gang p_j + q (Kelly 1997). NashWelfare proves its gap; this looks at the utilities themselves,
// which are unique, from two orders of the types.
TEST_CASE("wide shares: utilities of proportional fairness do not depend on the order of types", "[gavel]") {
  for (std::uint32_t round = 0; round < 20; ++round) {
    const Problem problem = ManyTypes(100 + round, 120 + static_cast<int>(round) * 5, 30 + static_cast<int>(round));
    Problem turned = problem;
    std::reverse(turned.workers.begin(), turned.workers.end());
    for (int i = 0; i < problem.jobs(); ++i) {
      const auto row = turned.throughput.begin() + i * problem.types();
      std::reverse(row, row + problem.types());
    }
    INFO("round " << round);
    NashAnswer one, other;
    REQUIRE(NashWelfare(problem, one));
    REQUIRE(NashWelfare(turned, other));
    CheckFits(problem, one.x);
    CHECK(one.gap <= kNashGap * problem.jobs());
    CHECK(one.geometric_mean == Approx(other.geometric_mean).epsilon(1e-8));
    for (std::size_t i = 0; i < one.utility.size(); ++i)
      CHECK(one.utility[i] == Approx(other.utility[i]).epsilon(1e-3));
  }
}

// Two jobs, one GPU of each of 30 types, of which job 0 gains from type 7 alone and job 1 from types 7 and 8:
// alone on its own each is best off, and shares of time bind, so both have a whole GPU.
TEST_CASE("wide shares: by hand", "[gavel]") {
  Problem problem;
  problem.workers.assign(30, 1);
  problem.key = {0, 1};
  problem.gang = {1, 1};
  problem.weight = {1.0, 1.0};
  problem.throughput.assign(60, 0.0);
  problem.throughput[7] = 3.0;
  problem.throughput[30 + 7] = 4.0, problem.throughput[30 + 8] = 2.0;
  NashAnswer nash;
  REQUIRE(NashWelfare(problem, nash));
  // max log 3 a + log (4 (1 - a) + 2 b), b <= a, so b = a: log a + log (4 - 2 a), which rises up to a = 1.
  CHECK(nash.x[7] == Approx(1.0).margin(1e-4));
  CHECK(nash.x[30 + 8] == Approx(1.0).margin(1e-4));
  // A type that has no GPU now changes nothing, whatever it would be worth.
  problem.workers[29] = 0;
  problem.throughput[29] = 100.0;
  LevelLp lp(LpMethod::kEmbedding);
  LevelAnswer level;
  REQUIRE(lp.Maximize(problem, problem.throughput, level));
  // 3 a = 4 (1 - a) + 2 a at a = 4/5.
  CHECK(level.level == Approx(2.4).epsilon(1e-7));
}

}  // namespace berth::gavel
