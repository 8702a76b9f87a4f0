// Certificates of allocations: by hand, against plain linear programs, and that no prices prove what is false.
#include "tools/solve/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "baselines/gavel/water_filling.hpp"
#include "tools/solve/certified.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/certified_problems.hpp"

namespace berth::gavel {
namespace {

const CertifiedObjective& CertifiedNamed(const std::string& name) {
  for (const CertifiedObjective& objective : CertifiedObjectives()) {
    if (name == objective.name) return objective;
  }
  throw Error("no such objective: " + name);
}

// max min_i worth_i . x_i, or max sum, by HiGHS.
double PlainOptimum(const Problem& problem, const std::vector<double>& worth, bool level) {
  LpModel model;
  model.maximize = true;
  AddShares(problem, level ? std::vector<double>{} : worth, model);
  const int c = level ? model.AddColumn(1.0, 0.0, kLpInfinity) : -1;
  AddBaseRows(problem, model);
  for (int i = 0; level && i < problem.jobs(); ++i) {
    for (int j = 0; j < problem.types(); ++j)
      model.AddEntry(static_cast<int>(problem.at(i, j)), worth[problem.at(i, j)]);
    model.AddEntry(c, -1.0);
    model.EndRow(0.0, kLpInfinity);
  }
  LpSolver solver;
  LpSolution solution;
  REQUIRE(solver.Solve(model, LpMethod::kSimplex, solution) == LpStatus::kOptimal);
  return solution.objective;
}

// Two jobs on two types of one GPU each; the first runs on the first type alone, at 2 steps/s, the second at 1
// on either.
Problem Two() {
  Problem problem;
  problem.workers = {1, 1};
  problem.key = {0, 1};
  problem.gang = {1, 1};
  problem.weight = {1.0, 1.0};
  problem.throughput = {2.0, 0.0, 1.0, 1.0};
  return problem;
}

}  // namespace

TEST_CASE("certificate: bounds worked by hand", "[gavel]") {
  const Problem two = Two();
  const Allocation apart = {1.0, 0.0, 0.0, 1.0};
  CHECK(Violation(two, apart) == 0.0);
  CHECK(Violation(two, std::vector<double>{1.0, 0.0, 0.5, 0.5}) == Approx(0.5));   // 1.5 of one GPU
  CHECK(Violation(two, std::vector<double>{-0.25, 0.0, 0.0, 1.0}) == Approx(0.25));
  // Free GPUs: all of a job's time at its best.
  CHECK(PricedBound(two, two.throughput, std::vector<double>{1.0, 1.0}, std::vector<double>{0.0, 0.0}) == 3.0);
  // The first type at 1.5: 1.5 + (2 - 1.5) + (1 on the second type).
  CHECK(PricedBound(two, two.throughput, std::vector<double>{1.0, 1.0}, std::vector<double>{1.5, 0.0}) == 3.0);
  const Certificate sum = CertifySum(two, two.throughput, apart, std::vector<double>{0.0, 0.0});
  CHECK(sum.value == 3.0);
  CHECK(sum.gap == 0.0);
  // The level is 1, that of the second job, whose time alone is the limit.
  const Certificate level =
      CertifyLevel(two, two.throughput, apart, std::vector<double>{0.0, 2.0}, std::vector<double>{0.0, 0.0});
  CHECK(level.value == 1.0);
  CHECK(level.bound == 1.0);
  // At price 1 the first job's time is worth 1 beyond the GPU, ln 2 + ln 1 in all.
  const Certificate logs = CertifyLogs(two, two.throughput, apart, std::vector<double>{0.0, 0.0});
  CHECK(logs.value == Approx(std::log(2.0)));
  CHECK(logs.gap == Approx(0.0).margin(1e-12));
  // 10 steps each: the second ends at 10 s, whatever is done.
  Problem timed = two;
  timed.remaining = {10.0, 10.0};
  const std::vector<double> one = {1.0, 1.0}, zero = {0.0, 0.0};
  const Certificate ends = CertifyRatio(timed, one, zero, apart, std::vector<double>{0.0, 1.0}, zero);
  CHECK(ends.value == 10.0);
  CHECK(ends.bound == Approx(10.0));
  // Both jobs have all their time at their best, so water needs no prices; at half of it nothing is proven.
  CHECK(CertifyWater(two, two.throughput, apart, {}).gap == 0.0);
  CHECK(CertifyWater(two, two.throughput, std::vector<double>{0.5, 0.0, 0.0, 1.0}, {}).gap == Approx(1.0));
}

TEST_CASE("certificates of every objective close on random problems", "[gavel][lp]") {
  for (std::uint32_t round = 0; round < 150; ++round) {
    const Problem problem = test::RandomProblem(round);
    for (const CertifiedObjective& objective : CertifiedObjectives()) {
      INFO("round " << round << ", " << objective.name);
      CertifiedAnswer answer;
      const char* why = "";
      REQUIRE(objective.solve(problem, LpMethod::kEmbedding, answer, why));
      CHECK(answer.certificate.violation <= 1e-7);
      CHECK(answer.certificate.gap <= 1e-6);
      CHECK(answer.certificate.gap >= -1e-6);
    }
    CertifiedAnswer level, sum;
    const char* why = "";
    REQUIRE(CertifiedNamed("max_min").solve(problem, LpMethod::kEmbedding, level, why));
    CHECK(level.certificate.value == Approx(PlainOptimum(problem, NormalizedWorth(problem), true)).epsilon(1e-6));
    REQUIRE(CertifiedNamed("max_sum_throughput").solve(problem, LpMethod::kEmbedding, sum, why));
    CHECK(sum.certificate.value == Approx(PlainOptimum(problem, problem.throughput, false)).epsilon(1e-6));
  }
}

// Two jobs on one GPU, at 1 alone and 0.75 beside each other.
TEST_CASE("certificate: what prices prove of pairs, by hand", "[gavel]") {
  PackedProblem two;
  two.base.workers = {1};
  two.base.key = {0, 1};
  two.base.gang = {1, 1};
  two.base.throughput = {1.0, 1.0};
  two.beside = {0.5, 0.75, 0.75, 0.5};  // a job beside itself never counts
  const std::vector<double> scale = {1.0, 1.0}, one = {1.0, 1.0}, zero = {0.0, 0.0};
  const PackedAllocation together = {{0.0, 0.0}, {{0, 1}}, {1.0}};
  const Certificate level = CertifyPackedLevel(two, scale, together, one, zero);
  CHECK(level.violation == 0.0);
  CHECK(level.value == 0.75);
  CHECK(level.type_price == std::vector<double>{1.5});
  CHECK(level.bound == Approx(0.75));
  // With a price of 0.5 on time a GPU is worth 0.5 alone or shared: 0.5 + 2 x 0.5 over 2.
  CHECK(CertifyPackedLevel(two, scale, together, one, std::vector<double>{0.5, 0.5}).bound == Approx(0.75));
  // The first job alone: all of a GPU at 1, whatever becomes of the other.
  CHECK(CertifyPackedLevel(two, scale, together, std::vector<double>{1.0, 0.0}, zero).bound == Approx(1.0));
  CHECK(PackedViolation(two, {{0.5, 0.0}, {{0, 1}}, {1.0}}) == Approx(0.5));
  CHECK(PackedViolation(two, {{0.0, 0.0}, {{0, 0}}, {1.0}}) == Approx(1.0));
  two.beside[1] = 0.0;  // cannot share any more
  CHECK(PackedViolation(two, together) == Approx(1.0));
  CHECK(CertifyPackedLevel(two, scale, {{0.5, 0.5}, {}, {}}, one, zero).gap == Approx(0.0).margin(1e-15));
}

// More shares than a program for each level is for. All types have a price at once, so it proves all levels.
TEST_CASE("certificate: all levels of a water filling of 80 small types and 500 jobs", "[gavel][lp]") {
  Stream random(42, Purpose::kTest);
  Problem problem;
  for (int j = 0; j < 80; ++j) {
    problem.type_names.push_back(Join("type", j));
    problem.workers.push_back(2 + static_cast<int>(random.Below(4)));
  }
  for (int i = 0; i < 500; ++i) {
    problem.key.push_back(i);
    problem.gang.push_back(1 << random.Below(3));
    problem.weight.push_back(random.Uniform(1.0, 10.0));
    for (int j = 0; j < 80; ++j) problem.throughput.push_back(random.Uniform(1.0, 2.0));
  }
  CertifiedAnswer answer;
  const char* why = "";
  REQUIRE(CertifiedNamed("water_filling").solve(problem, LpMethod::kEmbedding, answer, why));
  CHECK(answer.certificate.all_levels);
  CHECK(answer.certificate.gap <= 1e-7);
  CHECK(answer.certificate.violation <= 1e-9);
}

// Two types of one GPU; jobs 0 and 1 run on the first, at 1/2 of what it gives one, job 2 on the second.
TEST_CASE("certificate: of a water filling whose levels take too long, the lowest alone", "[gavel][lp]") {
  Problem problem;
  problem.type_names = {"a", "b"};
  problem.workers = {1, 1};
  problem.key = {0, 1, 2};
  problem.gang = {1, 1, 1};
  problem.weight = {1.0, 1.0, 1.0};
  problem.throughput = {1.0, 0.0, 1.0, 0.0, 0.0, 1.0};
  WaterLevels levels;
  REQUIRE(WaterFilling(LpMethod::kSimplex).Solve(problem, {}, levels));
  levels.first_price.clear();
  for (const double seconds : {0.0, 60.0}) {
    CAPTURE(seconds);
    Certificate certificate;
    const char* why = "";
    REQUIRE(ProveLevels(problem, levels, LpMethod::kSimplex, seconds, certificate, why));
    CHECK(certificate.all_levels == (seconds > 0.0));
    CHECK(certificate.value == Approx(1.0));  // half of the time, over half of the GPUs
    CHECK(certificate.bound == Approx(1.0));
    CHECK(certificate.gap <= 1e-6);
  }
}

// Whatever the prices, a bound is never below what some allocation reaches.
TEST_CASE("certificate: no prices prove what is false", "[gavel]") {
  for (std::uint32_t round = 0; round < 300; ++round) {
    const Problem problem = test::RandomProblem(round);
    Stream random(32, Purpose::kTest, Split::kTrain, round);
    const std::vector<double> worth = NormalizedWorth(problem);
    CertifiedAnswer level, sum, logs, water;
    const char* why = "";
    REQUIRE(CertifiedNamed("max_min").solve(problem, LpMethod::kSimplex, level, why));
    REQUIRE(CertifiedNamed("max_sum_throughput").solve(problem, LpMethod::kSimplex, sum, why));
    REQUIRE(CertifiedNamed("proportional_fairness").solve(problem, LpMethod::kSimplex, logs, why));
    REQUIRE(CertifiedNamed("water_filling").solve(problem, LpMethod::kSimplex, water, why));
    std::vector<double> job_price, type_price, ones(problem.key.size(), 1.0);
    for (int i = 0; i < problem.jobs(); ++i) job_price.push_back(random.Uniform(0.0, 1.0));
    for (int j = 0; j < problem.types(); ++j) type_price.push_back(random.Uniform(0.0, 1.0));
    CHECK(CertifyLevel(problem, worth, level.x, job_price, type_price).gap >= -1e-9);
    CHECK(CertifySum(problem, problem.throughput, sum.x, type_price).gap >= -1e-9);
    CHECK(CertifyLogs(problem, worth, logs.x, type_price).gap >= -1e-9);
    const std::vector<double> zero(problem.key.size(), 0.0);
    CertifiedAnswer makespan;
    REQUIRE(CertifiedNamed("makespan").solve(problem, LpMethod::kSimplex, makespan, why));
    CHECK(CertifyRatio(problem, ones, zero, makespan.x, job_price, type_price).gap >= -1e-9);
    // An allocation that stops short is not proven: half of everybody's time leaves room for all.
    Allocation half = water.x;
    for (double& share : half) share *= 0.5;
    std::vector<WaterStage> stages;
    REQUIRE(FindWaterPrices(problem, worth, half, kLpInfinity, stages));
    CHECK(CertifyWater(problem, worth, half, stages).gap > 0.1);
  }
}

}  // namespace berth::gavel
