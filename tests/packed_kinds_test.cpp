// Packed max-min by kinds of jobs: against the program over all jobs and pairs by HiGHS, and what proves the
// answer of 2,048 jobs, looked at pair by pair here.
#include "baselines/gavel/packed_kinds.hpp"

#include <algorithm>
#include <vector>

#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/certified_problems.hpp"
#include "tools/solve/certificate.hpp"

namespace berth::gavel {
namespace {

// Weights all unlike, a type in four without GPUs, one gang in five of 2, a pair in six that cannot share.
PackedProblem OfKinds(std::uint32_t round, int jobs, int kinds, int gpus) {
  Stream random(31, Purpose::kTest, Split::kTrain, round);
  const int types = 1 + static_cast<int>(random.Below(3));
  PackedProblem problem;
  Problem& base = problem.base;
  for (int j = 0; j < types; ++j) base.workers.push_back(j > 0 && random.Below(4) == 0 ? 0 : gpus);
  std::vector<double> rate;
  for (int k = 0; k < kinds * types; ++k) {
    rate.push_back(k % types > 0 && random.Below(6) == 0 ? 0.0 : random.Uniform(1.0, 9.0));
  }
  problem.kinds = kinds;
  for (int a = 0; a < kinds; ++a) {
    for (int b = 0; b < kinds * types; ++b) {
      const double part = random.Below(6) == 0 ? 0.0 : random.Uniform(0.35, 1.0);
      problem.beside.push_back(part * rate[base.at(a, b % types)]);
    }
  }
  for (int i = 0; i < jobs; ++i) {
    const auto kind = static_cast<int>(random.Below(static_cast<std::uint32_t>(kinds)));
    problem.kind.push_back(kind);
    base.key.push_back(i);
    base.gang.push_back(random.Below(5) == 0 ? 2 : 1);
    base.weight.push_back(random.Uniform(1.0, 3.0));
    for (int j = 0; j < types; ++j) base.throughput.push_back(rate[base.at(kind, j)]);
  }
  return problem;
}

// That no share of time costs less than it is worth, job by job and pair by pair, and what that bounds.
double BoundOf(const PackedProblem& problem, const std::vector<double>& scale, const KindsAnswer& answer) {
  const Problem& base = problem.base;
  double sum = 0.0, bound = 0.0, over = 0.0;
  for (int i = 0; i < base.jobs(); ++i) {
    sum += answer.price[U(i)] / scale[U(i)];
    bound += answer.time_price[U(i)];
    over = std::max({over, -answer.price[U(i)], -answer.time_price[U(i)]});
  }
  for (int j = 0; j < base.types(); ++j) {
    bound += base.workers[U(j)] * answer.type_price[U(j)];
    for (int i = 0; i < base.jobs(); ++i) {
      const auto gain = [&](int job, double rate) {
        return answer.price[U(job)] * rate - answer.time_price[U(job)];
      };
      over = std::max(over, gain(i, base.throughput[base.at(i, j)]) -
                                base.gang[U(i)] * answer.type_price[U(j)]);
      for (int k = 0; k < i; ++k) {
        const double first = problem.Beside(i, k, j), second = problem.Beside(k, i, j);
        if (first <= 0.0 || second <= 0.0) continue;
        over = std::max(over, gain(i, first) + gain(k, second) - answer.type_price[U(j)]);
      }
    }
  }
  CHECK(over <= 1e-14);
  CHECK(sum == Approx(1.0).epsilon(1e-12));
  return bound;
}

}  // namespace

TEST_CASE("packed kinds: the level is that of the program over all jobs and pairs", "[gavel][lp]") {
  int packed = 0;
  for (std::uint32_t round = 0; round < 150; ++round) {
    CAPTURE(round);
    const int jobs = 2 + static_cast<int>(round % 17);
    const PackedProblem problem = OfKinds(round, jobs, 1 + static_cast<int>(round % 4), 1 + jobs / 4);
    const std::vector<double> scale = WorthScale(problem.base);
    KindsAnswer answer;
    REQUIRE(MaxMinByKinds(problem, scale, kLpInfinity, answer) == LpStatus::kOptimal);
    const double level = test::LevelOver(AllCombos(problem), problem, scale);
    CHECK(answer.level == Approx(level).epsilon(1e-8));
    CHECK(Violation(problem, answer.x) <= 1e-9);
    CHECK(BoundOf(problem, scale, answer) == Approx(level).epsilon(1e-7));
    const Certificate proof = CertifyPackedLevel(problem, scale, answer.x, answer.price, answer.time_price);
    CHECK(proof.value == answer.level);
    CHECK(proof.bound == Approx(level).epsilon(1e-7));
    CHECK(proof.violation <= 1e-9);
    // Any prices bound the level from above.
    Stream random(33, Purpose::kTest, Split::kTrain, round);
    std::vector<double> price(scale.size()), time(scale.size());
    for (double& its : price) its = random.Uniform(0.0, 1.0);
    for (double& its : time) its = random.Uniform(-0.5, 0.5);
    CHECK(CertifyPackedLevel(problem, scale, answer.x, price, time).gap >= -1e-9);
    packed += static_cast<int>(answer.x.pairs.size());
  }
  CHECK(packed > 200);
}

// Jobs of one kind that differ alone but not beside others have many ways to one rate.
TEST_CASE("packed kinds: speeds alone of their own, at one rate beside others", "[gavel][lp]") {
  for (std::uint32_t round = 0; round < 150; ++round) {
    CAPTURE(round);
    const PackedProblem problem = test::RandomPairs(round);
    const std::vector<double> scale = WorthScale(problem.base);
    KindsAnswer answer;
    REQUIRE(MaxMinByKinds(problem, scale, kLpInfinity, answer) == LpStatus::kOptimal);
    CHECK(BoundOf(problem, scale, answer) <= answer.level * (1.0 + 1e-7));
    CHECK(CertifyPackedLevel(problem, scale, answer.x, answer.price, answer.time_price).gap <= 1e-7);
  }
}

TEST_CASE("packed kinds: 2,048 jobs with weights all unlike, proven over all pairs", "[gavel][lp]") {
  const PackedProblem problem = OfKinds(7, 2048, 26, 400);
  const std::vector<double> scale = WorthScale(problem.base);
  PackedLp lp(LpMethod::kEmbedding);
  PackedAllocation x;
  double level = 0.0;
  REQUIRE(PackedMaxMin(problem, lp, x, &level));
  KindsAnswer answer;
  REQUIRE(MaxMinByKinds(problem, scale, kLpInfinity, answer) == LpStatus::kOptimal);
  CHECK(level == answer.level);
  CHECK(Violation(problem, x) <= 1e-9);
  const std::vector<double> speed = EffectiveThroughput(problem, x);
  for (std::size_t i = 0; i < speed.size(); ++i) CHECK(scale[i] * speed[i] >= level * (1.0 - 1e-12));
  CHECK(BoundOf(problem, scale, answer) <= level * (1.0 + 1e-8));
}

// A ratio is the least where the level at it is 1, and at any smaller one has a bound below 1.
TEST_CASE("packed kinds: the ratio of finish-time fairness is the least", "[gavel][lp]") {
  for (std::uint32_t round = 0; round < 150; ++round) {
    INFO("round " << round);
    const PackedProblem problem = test::RandomPairs(round);
    PackedLp lp(LpMethod::kEmbedding);
    PackedAllocation x;
    double rho = 0.0;
    REQUIRE(PackedFinishTimeFairness().Solve(problem, lp, x, &rho));
    const std::vector<double> alone = IsolatedProgress().Advance(problem.base);
    const auto level = [&](double ratio) {
      std::vector<double> scale;
      for (std::size_t i = 0; i < alone.size(); ++i) {
        const double work = problem.base.remaining[i] * problem.base.weight[i];
        scale.push_back((ratio * alone[i] - problem.base.since[i]) / work);
        if (!(scale.back() > 0.0)) return 0.0;  // waited longer than that already
      }
      KindsAnswer answer;
      REQUIRE(MaxMinByKinds(problem, scale, kLpInfinity, answer) == LpStatus::kOptimal);
      return answer.bound;
    };
    CHECK(level(rho * (1.0 + 1e-6)) >= 1.0);
    CHECK(level(rho * (1.0 - 1e-6)) <= 1.0);
  }
}

}  // namespace berth::gavel
