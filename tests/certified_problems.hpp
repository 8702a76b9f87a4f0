// Small random problems for all objectives of allocations.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "baselines/gavel/packed_lp.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"

namespace berth::test {

// Speeds over two decades, a quarter of them 0, gangs of 1 to 8, weights and work all unlike.
inline gavel::Problem RandomProblem(std::uint32_t round) {
  Stream random(31, Purpose::kTest, Split::kTrain, round);
  gavel::Problem problem;
  const int jobs = 2 + static_cast<int>(random.Below(14)), types = 1 + static_cast<int>(random.Below(4));
  for (int j = 0; j < types; ++j) {
    problem.workers.push_back(1 + static_cast<int>(random.Below(8)));
    problem.type_names.push_back(Join("t", j));
    problem.price.push_back(random.Uniform(0.5, 4.0));
  }
  problem.tenants.push_back({});
  for (int i = 0; i < jobs; ++i) {
    const auto can = static_cast<int>(random.Below(static_cast<std::uint32_t>(types)));
    problem.key.push_back(i);
    problem.tenant.push_back(0);
    problem.gang.push_back(1 << random.Below(4));
    problem.weight.push_back(random.Uniform(1.0, 4.0));
    problem.remaining.push_back(random.Uniform(10.0, 1000.0));
    problem.since.push_back(random.Uniform(0.0, 100.0));
    problem.left.push_back(INFINITY);
    for (int j = 0; j < types; ++j) {
      const bool runs = j == can || random.Below(4) > 0;
      problem.throughput.push_back(runs ? std::pow(10.0, random.Uniform(-1.0, 1.0)) : 0.0);
    }
  }
  return problem;
}

// The same with more jobs of one GPU, of up to 4 kinds, some of which cannot share.
inline gavel::PackedProblem RandomPairs(std::uint32_t round) {
  Stream random(34, Purpose::kTest, Split::kTrain, round);
  gavel::PackedProblem problem;
  problem.base = RandomProblem(round);
  problem.kinds = 1 + static_cast<int>(random.Below(4));
  for (int& gang : problem.base.gang) {
    if (random.Below(4) > 0) gang = 1;
    problem.kind.push_back(static_cast<int>(random.Below(static_cast<std::uint32_t>(problem.kinds))));
  }
  // Speeds are by kind here, whatever a job's own alone.
  for (int pair = 0; pair < problem.kinds * problem.kinds; ++pair) {
    for (int j = 0; j < problem.base.types(); ++j)
      problem.beside.push_back(random.Below(6) == 0 ? 0.0 : std::pow(10.0, random.Uniform(-1.0, 0.5)));
  }
  return problem;
}

// max min_i scale_i speed_i over these combos, by HiGHS.
inline double LevelOver(std::span<const gavel::Combo> combos, const gavel::PackedProblem& problem,
                        std::span<const double> scale) {
  std::vector<gavel::SpeedRow> rows;
  for (const double of_job : scale) rows.push_back({of_job, 0, 0.0});
  gavel::PackedLp lp(LpMethod::kSimplex);
  gavel::PackedRise risen;
  const double top[] = {kLpInfinity};
  const LpStatus status = lp.MaximizeRise(problem, combos, rows, top, LpMethod::kSimplex, risen);
  return status == LpStatus::kOptimal ? risen.rise[0] : -1.0;
}

}  // namespace berth::test
