// Objectives of allocations against CBC and Clarabel, where Python has them: pip install clarabel mip scipy.
// BERTH_SOLVER_PROBLEMS says how many random problems [100].
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "baselines/gavel/packed_kinds.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "tools/solve/certified.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tests/catch.hpp"
#include "tests/certified_problems.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/solver_script.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

using gavel::PackedProblem;

Json Stated(std::uint32_t round, const gavel::Problem& problem) {
  return {{"round", round},           {"workers", problem.workers},     {"gang", problem.gang},
          {"weight", problem.weight}, {"price", problem.price},         {"remaining", problem.remaining},
          {"since", problem.since},   {"throughput", problem.throughput}};
}

// Steps/s of all jobs on the GPUs of a type.
double SpeedOn(const PackedProblem& problem, gavel::PackedAllocation x, int type) {
  for (auto* shares : {&x.alone, &x.together}) {
    for (std::size_t k = 0; k < shares->size(); ++k) {
      if (static_cast<int>(k % problem.base.workers.size()) != type) (*shares)[k] = 0.0;
    }
  }
  const std::vector<double> speed = EffectiveThroughput(problem, x);
  return std::accumulate(speed.begin(), speed.end(), 0.0);
}

// The packed objectives as the schedulers ask for them, and max-min as `berth solve` does; values are those of the
// shares.
Json PackedAnswers(const PackedProblem& problem, bool with_water) {
  const gavel::Problem& base = problem.base;
  Json answers;
  const auto add = [&](const std::string& name, const gavel::PackedAllocation& x, auto&& value) {
    INFO(name);
    CHECK(gavel::PackedViolation(problem, x) <= 1e-7);
    answers[name] = {{"value", value(EffectiveThroughput(problem, x))}};
  };
  // The largest, over jobs.
  const auto largest = [](const std::vector<double>& speed, auto&& of_job) {
    double most = -INFINITY;
    for (std::size_t i = 0; i < speed.size(); ++i) most = std::max(most, of_job(i, speed[i]));
    return most;
  };
  const std::vector<double> scale = WorthScale(base);
  const auto level = [&](const std::vector<double>& speed) {
    return -largest(speed, [&](std::size_t i, double its) { return -scale[i] * its; });
  };
  gavel::PackedAllocation x;
  gavel::KindsAnswer kinds;
  REQUIRE(MaxMinByKinds(problem, scale, kLpInfinity, kinds) == LpStatus::kOptimal);
  add("max_min packed", kinds.x, level);
  CHECK(CertifyPackedLevel(problem, scale, kinds.x, kinds.price, kinds.time_price).gap <= 1e-6);
  gavel::PackedLp by_point(LpMethod::kEmbedding), by_vertex(LpMethod::kSimplex);
  gavel::PackedMakespanAnswer makespan;
  REQUIRE(PackedMakespan(problem, by_point, makespan));
  add("makespan packed", makespan.x, [&](const std::vector<double>& speed) {
    return largest(speed, [&](std::size_t i, double its) { return base.remaining[i] / its; });
  });
  REQUIRE(gavel::PackedFinishTimeFairness().Solve(problem, by_point, x));
  const std::vector<double> alone = gavel::IsolatedProgress().Advance(base);
  add("finish_time_fairness packed", x, [&](const std::vector<double>& speed) {
    return largest(speed, [&](std::size_t i, double its) {
      return (base.since[i] + base.remaining[i] * base.weight[i] / its) / alone[i];
    });
  });
  for (gavel::PackedLp* lp : {&by_point, &by_vertex}) {
    for (const bool by_cost : {false, true}) {
      const std::vector<double> price = by_cost ? base.price : std::vector<double>(base.price.size(), 1.0);
      REQUIRE(PackedThroughputPerCost(problem, *lp, price, false, x));
      double sum = 0.0;
      for (int j = 0; j < base.types(); ++j) sum += SpeedOn(problem, x, j) / price[U(j)];
      const char* name = by_cost ? "max_throughput_per_cost packed" : "max_sum_throughput packed";
      add(lp == &by_point ? name : Join(name, ", vertex"), x, [sum](const std::vector<double>&) { return sum; });
    }
  }
  if (with_water) {  // CBC takes a hundred programs for it
    gavel::PackedWaterLevels water;
    REQUIRE(PackedWaterFilling(problem, by_point, water));
    add("water_filling packed", water.x, level);
    const std::vector<double> speed = EffectiveThroughput(problem, water.x);
    for (std::size_t i = 0; i < speed.size(); ++i) CHECK(speed[i] * scale[i] >= water.level[i] * (1.0 - 1e-7));
    answers["water_filling packed"]["levels"] = water.level;
  }
  return answers;
}

}  // namespace

TEST_CASE("objectives of allocations are those of CBC and Clarabel", "[gavel][lp]") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "clarabel, mip, numpy, scipy");
  if (python.empty()) return test::Skip("needs Python with clarabel, mip, numpy and scipy");
  const char* many = std::getenv("BERTH_SOLVER_PROBLEMS");
  const std::uint32_t rounds = many == nullptr ? 100 : static_cast<std::uint32_t>(std::stoul(many));
  std::string lines;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const gavel::Problem problem = test::RandomProblem(round);
    Json json = Stated(round, problem);
    for (const gavel::CertifiedObjective& objective : gavel::CertifiedObjectives()) {
      gavel::CertifiedAnswer answer;
      const char* why = "";
      INFO("round " << round << ", " << objective.name);
      const bool solved = objective.solve(problem, LpMethod::kEmbedding, answer, why);
      INFO(why);
      REQUIRE(solved);
      CHECK(answer.certificate.gap <= (objective.name == std::string("water_filling") ? 1e-4 : 1e-6));
      json["answers"][objective.name] = {{"value", answer.certificate.value}, {"x", answer.x}};
    }
    lines += json.dump() + "\n";
    const PackedProblem pairs = test::RandomPairs(round);
    INFO("round " << round << ", packed");
    Json packed = Stated(round, pairs.base);
    packed["kinds"] = pairs.kinds, packed["kind"] = pairs.kind, packed["beside"] = pairs.beside;
    packed["answers"] = PackedAnswers(pairs, round % 10 == 0);
    lines += packed.dump() + "\n";
  }
  test::CheckLines(python, BERTH_SOURCE_DIR "/tests/independent_solvers.py", lines, many != nullptr);
}

}  // namespace berth
