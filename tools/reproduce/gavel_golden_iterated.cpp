// Checks of water filling, hierarchical sharing, AlloX and the strategy-proof policy.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "baselines/gavel/allox.hpp"
#include "baselines/gavel/nash_welfare.hpp"
#include "baselines/gavel/water_filling.hpp"
#include "tools/reproduce/gavel_golden_checks.hpp"

namespace berth {
namespace {

using namespace golden;
using gavel::Allocation;
using gavel::Problem;

// Levels net gang / weight, ascending.
std::vector<double> SortedLevels(const Problem& problem, const std::vector<double>& net) {
  std::vector<double> levels(net.size());
  for (std::size_t i = 0; i < net.size(); ++i) levels[i] = net[i] * problem.gang[i] / problem.weight[i];
  std::sort(levels.begin(), levels.end());
  return levels;
}

template <bool kAware>
Measures CheckWaterFilling(const GoldenCase& golden) {
  const Problem problem = AsSeen(golden, kAware);
  Measures measures;
  for (const LpMethod method : kMethods) {
    gavel::WaterFilling filling(method);
    gavel::WaterLevels answer;
    if (!filling.Solve(problem, {}, answer)) return Failed();
    const std::vector<double> levels = SortedLevels(problem, answer.net);
    Append(measures, {{"objective", Relative(levels.front(), Optimum(golden.policy)), kObjective},
                      {"constraints", BaseViolation(problem, answer.x), kConstraint}});
    const char* exact = "levels_sorted_lexicographic_opt";
    if (golden.policy.contains(exact) && golden.policy[exact].is_array()) {
      measures.push_back({"all levels", Worst(levels, golden.policy[exact]), kObjective});
    }
    measures.push_back(
        {"all levels, from the reference's", Worst(levels, golden.policy.at("levels_sorted")), kShown});
  }
  return measures;
}

Measures CheckHierarchical(const GoldenCase& golden) {
  Problem problem = golden.problem;
  problem.tenants.clear();
  for (const auto& [entity, jobs] : golden.policy.at("entities").items()) {
    const int tenant = static_cast<int>(problem.tenants.size());
    problem.tenants.push_back({golden.policy.at("entity_weights").at(entity),
                               golden.policy.at("entity_policies").at(entity) == "fifo"});
    for (const Json& job : jobs) {
      problem.tenant[JobRow(problem, job.get<int>())] = tenant;
    }
  }
  const std::vector<double> recorded = golden.policy.at("normalized_effective_throughputs");
  if (recorded.size() != problem.key.size())
    throw std::out_of_range("normalized_effective_throughputs of other jobs");
  Measures measures;
  for (const LpMethod method : kMethods) {
    gavel::WaterFilling filling(method);
    gavel::WaterLevels answer;
    if (!filling.Solve(problem, {.by_tenant = true, .reference_cap = true}, answer)) return Failed();
    // Where the reference stops at its cap, some jobs are promised less than they get, and how much more is
    // up to the solver: those are compared at the reference's point alone.
    double settled = 0.0, promised = 0.0;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      if (answer.saturated[i]) settled = std::max(settled, Relative(answer.net[i], recorded[i]));
      promised = std::max(promised, (answer.promised[i] - recorded[i]) / recorded[i]);
    }
    Append(measures, {{"normalised throughputs, saturated jobs", settled, kObjective},
                      {"promised but not given there", promised, kObjective},
                      {"constraints", BaseViolation(problem, answer.x), kConstraint}});
    if (method == LpMethod::kEmbedding) {
      measures.push_back(
          {"normalised throughputs, all jobs, solver=reference", Worst(answer.net, recorded), kShown});
    }
  }
  return measures;
}

Measures CheckAllox(const GoldenCase& golden) {
  gavel::Allox allox;
  double cost = 0.0, started = 0.0, recorded = 0.0;
  const Allocation x = allox.Allocate(golden.problem, &cost);
  for (double share : x) started += share;
  for (const Json& row : golden.policy.at("allocation")) {
    for (const Json& value : row) recorded += value.get<double>();
  }
  return {{"objective", Relative(cost, Optimum(golden.policy)), kObjective},
          {"jobs started, apart", std::abs(started - recorded), 0.0},
          {"constraints", BaseViolation(golden.problem, x), kConstraint}};
}

// The reference's discounts are products of ratios from a conic solver with an exponential cone: of two jobs
// alike in all that counts (g05: 1 and 3) they differ by 5e-6 to either side of ours, which are equal.
constexpr double kDiscount = 1e-4;

Measures CheckStrategyProof(const GoldenCase& golden) {
  gavel::NashAnswer answer;
  std::vector<double> discount;
  if (!NashWelfare(golden.problem, answer) || !StrategyProofDiscounts(golden.problem, answer, discount)) {
    return Failed();
  }
  return {{"objective", Relative(answer.geometric_mean, Optimum(golden.policy)), kObjective},
          {"discounts", Worst(discount, golden.policy.at("discount_factors")), kDiscount},
          {"proven gap per job", answer.gap / golden.problem.jobs(), gavel::kNashGap},
          {"constraints", BaseViolation(golden.problem, answer.x), kConstraint}};
}

constexpr GoldenPolicy kIteratedGoldens[] = {
    {"max_min_fairness_water_filling_perf", CheckWaterFilling<true>},
    {"max_min_fairness_water_filling", CheckWaterFilling<false>},
    {"hierarchical_water_filling_perf", CheckHierarchical},
    {"allox", CheckAllox},
    {"max_min_fairness_strategy_proof_perf", CheckStrategyProof},
};

}  // namespace

std::span<const GoldenPolicy> IteratedGoldens() {
  return kIteratedGoldens;
}

}  // namespace berth
