// Programs over classes of identical jobs against the same programs written job by job: objectives by HiGHS'
// simplex method, points by the embedding that knows no classes.
#include <algorithm>

#include "baselines/embedding.hpp"
#include "baselines/gavel/level_lp.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "baselines/gavel/share_program.hpp"
#include "baselines/gavel/share_system.hpp"
#include "baselines/gavel/water_filling.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/certified_problems.hpp"

namespace berth::gavel {
namespace {

struct Shape {
  int jobs, kinds, types;  // kinds 0: every job its own
};

// Kinds with worth over three decades, gangs 1 to 4, now and then a type on which a kind cannot run; at least
// one on which it can.
Problem Jobs(const Shape& shape, std::uint32_t round) {
  Stream random(11, Purpose::kTest, Split::kTrain, round);
  const int kinds = shape.kinds > 0 ? shape.kinds : shape.jobs;
  std::vector<double> rate;
  std::vector<int> gang;
  for (int k = 0; k < kinds; ++k) {
    const double base = Exp(random.Uniform(-3.5, 3.5));
    gang.push_back(1 << random.Below(3));
    for (int j = 0; j < shape.types; ++j) {
      rate.push_back(j > 0 && random.Below(6) == 0 ? 0.0 : base * random.Uniform(0.2, 4.0));
    }
  }
  Problem problem;
  for (int j = 0; j < shape.types; ++j) {
    problem.workers.push_back(4 + static_cast<int>(random.Below(static_cast<std::uint32_t>(shape.jobs))));
    problem.type_names.push_back(std::string(1, static_cast<char>('a' + j)));
  }
  for (int i = 0; i < shape.jobs; ++i) {
    const auto k =
        shape.kinds > 0 ? random.Below(static_cast<std::uint32_t>(kinds)) : static_cast<std::uint32_t>(i);
    problem.key.push_back(i);
    problem.gang.push_back(gang[k]);
    problem.weight.push_back(shape.kinds > 0 && random.Below(5) == 0 ? 5.0 : 1.0);
    for (int j = 0; j < shape.types; ++j)
      problem.throughput.push_back(
          rate[k * static_cast<std::size_t>(shape.types) + static_cast<std::size_t>(j)]);
    problem.remaining.push_back(Exp(random.Uniform(6.0, 13.0)));
    problem.since.push_back(random.Below(3) == 0 ? 0.0 : Exp(random.Uniform(0.0, 13.0)));
  }
  return problem;
}

std::vector<double> Worth(const Problem& problem) {
  const std::vector<double> proportional = ProportionalThroughput(problem);
  std::vector<double> worth = problem.throughput;
  for (std::size_t k = 0; k < worth.size(); ++k) {
    const std::size_t i = k / problem.workers.size();
    worth[k] *= problem.gang[i] / (problem.weight[i] * proportional[i]);
  }
  return worth;
}

// The level program job by job, as the reference writes it.
LpModel WrittenOut(const Problem& problem, const std::vector<double>& worth) {
  LpModel model;
  model.maximize = true;
  AddShares(problem, {}, model);
  const int level = model.AddColumn(1.0, -kLpInfinity, kLpInfinity);
  AddBaseRows(problem, model);
  for (int i = 0; i < problem.jobs(); ++i) {
    for (int j = 0; j < problem.types(); ++j)
      model.AddEntry(static_cast<int>(problem.at(i, j)), worth[problem.at(i, j)]);
    model.AddEntry(level, -1.0);
    model.EndRow(0.0, kLpInfinity);
  }
  return model;
}

double Apart(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() <= b.size());
  double apart = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) apart = std::max(apart, std::abs(a[k] - b[k]));
  return apart;
}

double Level(const Problem& problem, const std::vector<double>& worth, const Allocation& x) {
  double level = kLpInfinity;
  for (int i = 0; i < problem.jobs(); ++i) {
    double sum = 0.0;
    for (int j = 0; j < problem.types(); ++j) sum += worth[problem.at(i, j)] * x[problem.at(i, j)];
    level = std::min(level, sum);
  }
  return level;
}

constexpr Shape kShapes[] = {{1, 0, 1},  {1, 0, 3},   {2, 0, 3},   {3, 1, 2},  {12, 0, 1}, {12, 3, 3},
                             {30, 0, 2}, {40, 5, 3},  {60, 26, 3}, {60, 0, 3}, {25, 0, 6}, {25, 4, 6},
                             {20, 0, 7}, {40, 0, 12}, {60, 9, 24}, {20, 0, 25}};

}  // namespace

TEST_CASE("gavel classes: level programs have the optimum and the point of those written job by job",
          "[gavel][lp]") {
  std::uint32_t round = 0;
  std::vector<double> apart;
  for (const Shape& shape : kShapes) {
    for (int repeat = 0; repeat < 4; ++repeat) {
      const Problem problem = Jobs(shape, round++);
      INFO(shape.jobs << " jobs, " << shape.kinds << " kinds, " << shape.types << " types, round " << round);
      const std::vector<double> worth = Worth(problem);
      LevelLp simplex(LpMethod::kSimplex), classes(LpMethod::kEmbedding);
      LevelAnswer vertex, inside;
      REQUIRE(simplex.Maximize(problem, worth, vertex));
      REQUIRE(classes.Maximize(problem, worth, inside));
      CHECK(inside.level == Approx(vertex.level).epsilon(1e-7));
      CHECK(Level(problem, worth, inside.x) == Approx(vertex.level).epsilon(1e-7));
      if (shape.types <= ShareSystem::kMostTypes)
        CHECK(inside.level <= Level(problem, worth, inside.x) * (1.0 + 1e-12));
      CHECK(classes.failed_checks() == 0);
      LpSolution point;
      REQUIRE(SolveEmbedding(WrittenOut(problem, worth), point) == LpStatus::kOptimal);
      // Beyond, another point: wide_shares.hpp.
      if (shape.types <= ShareSystem::kMostTypes) apart.push_back(Apart(inside.x, point.x));
    }
  }
  // The same path by other arithmetic: where a face is wide, the sparse systems are near singular and what
  // their regularization (7e-8) leaves shows. Measured: 2e-6 in the middle, 3e-5 at most; a vertex lies 0.1
  // to 1 away, and 1.5e-4 is how near either comes to the points that the reference recorded.
  std::sort(apart.begin(), apart.end());
  CHECK(apart[apart.size() / 2] <= 1e-5);
  CHECK(apart.back() <= 1e-4);
}

// 5,000 jobs of 83 kinds: HiGHS takes seconds job by job, so once.
TEST_CASE("gavel classes: 5,000 jobs", "[gavel][lp]") {
  const Problem problem = Jobs({5000, 83, 3}, 1000);
  const std::vector<double> worth = Worth(problem);
  LevelLp simplex(LpMethod::kSimplex), classes(LpMethod::kEmbedding);
  LevelAnswer vertex, inside;
  REQUIRE(simplex.Maximize(problem, worth, vertex));
  REQUIRE(classes.Maximize(problem, worth, inside));
  CHECK(inside.level == Approx(vertex.level).epsilon(1e-7));
  CHECK(Level(problem, worth, inside.x) == Approx(vertex.level).epsilon(1e-7));
}

TEST_CASE("gavel classes: a proof fails for what is wrong", "[gavel][lp]") {
  Problem problem = Jobs({40, 5, 3}, 7);
  problem.workers = {2, 3, 2};  // scarce: GPUs have prices and the time of jobs has none
  ShareProgram program;
  JobClasses classes;
  ShareAnswer right;
  StateShares(problem, Worth(problem), {}, 1.0, program, classes);
  CHECK(classes.size() < problem.jobs());
  REQUIRE(SolveShareEmbedding(program, right) == LpStatus::kOptimal);
  const ShareProof proof = Prove(program, right);
  CHECK(proof.infeasibility <= 1e-7);
  CHECK(proof.bound - proof.reached <= 1e-7 * proof.bound);
  CHECK(proof.bound >= proof.reached * (1.0 - 1e-7));
  ShareAnswer wrong = right;
  for (double& share : wrong.x) share *= 1.001;
  CHECK(Prove(program, wrong).infeasibility > 1e-4);
  wrong = right;
  for (double& share : wrong.x) share *= 0.999;
  CHECK(Prove(program, wrong).bound - Prove(program, wrong).reached > 5e-4 * proof.bound);
  wrong = right;
  for (double& price : wrong.type_price) price *= 1.2;
  CHECK(Prove(program, wrong).bound > proof.bound * 1.1);
  wrong = right;
  wrong.price[0] *= 1.2;
  CHECK(Prove(program, wrong).bound > proof.bound * (1.0 + 1e-4));
}

TEST_CASE("gavel classes: least ratios and makespans are those of Newton's method over LPs", "[gavel][lp]") {
  std::uint32_t round = 0;
  for (const Shape& shape : kShapes) {
    for (int repeat = 0; repeat < 4; ++repeat) {
      const Problem problem = Jobs(shape, round++);
      INFO(shape.jobs << " jobs, " << shape.kinds << " kinds, " << shape.types << " types, round " << round);
      LevelLp simplex(LpMethod::kSimplex), search(LpMethod::kEmbedding);
      FinishTimeFairness by_newton, by_search;
      Allocation x;
      double expected = 0.0, rho = 0.0;
      REQUIRE(by_newton.Solve(problem, simplex, x, &expected));
      REQUIRE(by_search.Solve(problem, search, x, &rho));
      CHECK(rho == Approx(expected).epsilon(1e-7));
      MakespanAnswer vertex, inside;
      REQUIRE(ExactMakespan(problem, simplex, vertex));
      REQUIRE(ExactMakespan(problem, search, inside));
      CHECK(inside.seconds == Approx(vertex.seconds).epsilon(1e-7));
      CHECK(inside.least <= inside.seconds * (1.0 + 1e-12));
      CHECK(inside.seconds - inside.least <= 1e-9 * inside.seconds);
      CHECK(*std::min_element(inside.x.begin(), inside.x.end()) >= 0.0);
    }
  }
}

// Weights a billionth apart make every job its own class; the levels move by as little.
TEST_CASE("gavel classes: water filling rises alike jobs as it rises jobs nearly alike", "[gavel][lp]") {
  for (std::uint32_t round = 0; round < 6; ++round) {
    const Problem alike = Jobs({24, 5, 3}, 50 + round);
    Problem apart = alike;
    for (int i = 0; i < apart.jobs(); ++i) apart.weight[static_cast<std::size_t>(i)] *= 1.0 + 1e-9 * i;
    for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kEmbedding}) {
      WaterFilling filling(method);
      WaterLevels few, many;
      REQUIRE(filling.Solve(alike, {}, few));
      REQUIRE(filling.Solve(apart, {}, many));
      INFO("round " << round << ", method " << static_cast<int>(method));
      for (std::size_t i = 0; i < few.promised.size(); ++i) {
        CHECK(few.promised[i] == Approx(many.promised[i]).epsilon(1e-6));
        CHECK(few.net[i] >= few.promised[i] * (1.0 - 1e-6));
      }
    }
  }
}

// Three kinds with pairs of every two, also of one kind; with and without being told which jobs are of one
// kind.
TEST_CASE("gavel classes: packed max-min over kinds of jobs is that over jobs", "[gavel][lp]") {
  for (std::uint32_t round = 0; round < 8; ++round) {
    PackedProblem problem;
    problem.base = Jobs({10, 3, 2}, 80 + round);
    Problem& base = problem.base;
    Stream random(12, Purpose::kTest, Split::kTrain, round);
    std::vector<int> kind;
    for (int i = 0; i < base.jobs(); ++i) {
      int its = 0;
      while (base.throughput[base.at(its, 0)] != base.throughput[base.at(i, 0)]) ++its;
      kind.push_back(its);
      base.gang[static_cast<std::size_t>(i)] = 1;
    }
    const int m = base.jobs();
    std::vector<double> slow(static_cast<std::size_t>(m * m) * 2);
    for (double& part : slow) part = random.Below(5) == 0 ? 0.0 : random.Uniform(0.4, 0.95);
    problem.beside.assign(static_cast<std::size_t>(m) * base.throughput.size(), 0.0);
    for (int i = 0; i < m; ++i) {
      for (int k = 0; k < m; ++k) {
        for (int j = 0; j < base.types(); ++j) {
          const auto its = static_cast<std::size_t>(
              (kind[static_cast<std::size_t>(i)] * m + kind[static_cast<std::size_t>(k)]) * 2 + j);
          problem.beside[base.at(i * m + k, j)] = slow[its] * base.throughput[base.at(i, j)];
        }
      }
    }
    PackedLp lp(LpMethod::kEmbedding);
    PackedAllocation jobs, kinds;
    double of_jobs = 0.0, of_kinds = 0.0;
    const double optimum = test::LevelOver(UsefulCombos(problem), problem, WorthScale(base));
    REQUIRE(PackedMaxMin(problem, lp, jobs, &of_jobs));
    problem.kind = kind;
    problem.kinds = m;
    REQUIRE(PackedMaxMin(problem, lp, kinds, &of_kinds));
    INFO("round " << round);
    CHECK(of_kinds == Approx(optimum).epsilon(1e-7));
    CHECK(of_jobs == Approx(optimum).epsilon(1e-7));
    CHECK(Violation(problem, kinds) <= 1e-7);
  }
}

}  // namespace berth::gavel
