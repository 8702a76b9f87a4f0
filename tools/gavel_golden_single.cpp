// Checks of the policies that run one job on a GPU. Tolerances are golden/README.md's: 1e-6 relative on the
// independent optimum, 1e-7 on constraints, 1e-9 on splits; every LP policy by every method.
#include <algorithm>
#include <cmath>
#include <limits>

#include "baselines/gavel/allox.hpp"
#include "baselines/gavel/nash_welfare.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/throughput.hpp"
#include "baselines/gavel/water_filling.hpp"
#include "tools/gavel_golden_checks.hpp"

namespace berth {
namespace {

using gavel::Allocation;
using gavel::EffectiveThroughput;
using gavel::Problem;
using Measures = std::vector<GoldenMeasure>;

constexpr double kObjective = 1e-6, kConstraint = 1e-7, kSplit = 1e-9;

constexpr double kShown = std::numeric_limits<double>::infinity();
constexpr double kFailed = std::numeric_limits<double>::infinity();  // of a value: nothing was found
constexpr LpMethod kMethods[] = {LpMethod::kSimplex, LpMethod::kInteriorPoint, LpMethod::kEmbedding};

double Relative(double value, double expected) {
  return std::abs(value - expected) / std::max(std::abs(expected), 1e-12);
}
double Worst(const std::vector<double>& values, const std::vector<double>& expected) {
  double worst = values.size() == expected.size() ? 0.0 : kFailed;
  for (std::size_t i = 0; i < values.size() && i < expected.size(); ++i) {
    worst = std::max(worst, Relative(values[i], expected[i]));
  }
  return worst;
}
double Optimum(const Json& policy) {
  return policy.contains("objective_opt") && policy["objective_opt"].is_number() ? policy["objective_opt"]
                                                                                 : policy.at("objective");
}
double Apart(const Allocation& x, const Json& rows) {
  double worst = 0.0;
  std::size_t k = 0;
  for (const Json& row : rows) {
    for (const Json& value : row) worst = std::max(worst, std::abs(x.at(k++) - value.get<double>()));
  }
  return k == x.size() ? worst : kFailed;
}
Measures Failed() {
  return {{"objective", kFailed, kObjective}};
}
void Append(Measures& to, const Measures& more) {
  to.insert(to.end(), more.begin(), more.end());
}

Problem AsSeen(const GoldenCase& golden, bool aware) {
  return aware ? golden.problem : gavel::WithUnitThroughput(golden.problem);
}
Problem AsV100(const GoldenCase& golden, bool aware) {
  return aware ? golden.problem : gavel::WithThroughputOf(golden.problem, gavel::BasisType(golden.problem));
}

template <Allocation (*Split)(const Problem&)>
Measures CheckSplit(const GoldenCase& golden) {
  return {{"allocation", Apart(Split(golden.problem), golden.policy.at("allocation")), kSplit}};
}

Measures CheckFifo(const GoldenCase& golden) {
  const Allocation x = gavel::FifoAllocation(golden.problem, gavel::TypesByName(golden.problem));
  return {{"allocation", Apart(x, golden.policy.at("allocation")), 0.0}};
}

template <bool kAware>
Measures CheckMaxMin(const GoldenCase& golden) {
  const Problem problem = AsSeen(golden, kAware);
  const std::vector<double> prop = gavel::ProportionalThroughput(problem);
  Measures measures;
  for (const LpMethod method : kMethods) {
    gavel::LevelLp lp(method);
    Allocation x;
    double level = 0.0;
    if (!MaxMinFairness(problem, lp, x, &level)) return Failed();
    const std::vector<double> speed = EffectiveThroughput(problem, x);
    double reached = kFailed;
    for (std::size_t i = 0; i < speed.size(); ++i) {
      reached = std::min(reached, problem.gang[i] * speed[i] / (problem.weight[i] * prop[i]));
    }
    measures.push_back({"objective", Relative(level, Optimum(golden.policy)), kObjective});
    measures.push_back({"objective", Relative(reached, Optimum(golden.policy)), kObjective});
    measures.push_back({"constraints", BaseViolation(problem, x), kConstraint});
    if (method == LpMethod::kEmbedding) {
      measures.push_back({"allocation, solver=reference", Apart(x, golden.policy.at("allocation")), kShown});
    }
  }
  return measures;
}

double Duration(const Problem& problem, const Allocation& x) {
  const std::vector<double> speed = EffectiveThroughput(problem, x);
  double longest = 0.0;
  for (std::size_t i = 0; i < speed.size(); ++i) longest = std::max(longest, problem.remaining[i] / speed[i]);
  return longest;
}

// Probes that differ from the recorded ones, up to one that lies too near the optimum to be told apart.
double ProbesApart(const std::vector<gavel::Probe>& probes, const Json& recorded, double optimum) {
  double apart = 0.0;
  for (std::size_t k = 0; k < std::max(probes.size(), recorded.size()); ++k) {
    if (k >= probes.size() || k >= recorded.size()) return apart + 1.0;
    if (probes[k].seconds != recorded[k].at(0).get<double>()) return apart + 1.0;
    if (Relative(probes[k].seconds, optimum) < 1e-7) return apart;
    apart += probes[k].feasible != (recorded[k].at(1) == "optimal") ? 1.0 : 0.0;
  }
  return apart;
}

template <bool kAware>
Measures CheckMakespan(const GoldenCase& golden) {
  const Problem problem = AsV100(golden, kAware);
  const double optimum = Optimum(golden.policy);
  Measures measures;
  for (const LpMethod method : kMethods) {
    gavel::LevelLp lp(method);
    gavel::MakespanAnswer exact, bisected;
    if (!ExactMakespan(problem, lp, exact) || !BisectedMakespan(problem, lp, bisected)) return Failed();
    const double last = golden.policy.at("T_last_feasible");
    const double over = std::max(0.0, Duration(problem, bisected.x) / bisected.seconds - 1.0);
    Append(measures,
           {{"exact objective", Relative(exact.seconds, optimum), kObjective},
            {"exact objective", Relative(Duration(problem, exact.x), optimum), kObjective},
            {"bisection: probes apart",
             ProbesApart(gavel::BisectionSequence(exact.seconds), golden.policy.at("bisection"), optimum), 0.0},
            {"bisection: last feasible T", Relative(bisected.seconds, last), 0.0},
            {"bisection: over T", over, kObjective},
            {"constraints", BaseViolation(problem, exact.x), kConstraint},
            {"constraints", BaseViolation(problem, bisected.x), kConstraint}});
    if (method == LpMethod::kEmbedding) {
      measures.push_back(
          {"allocation, solver=reference", Apart(bisected.x, golden.policy.at("allocation")), kShown});
    }
  }
  return measures;
}

template <bool kAware, bool kSecondCall>
Measures CheckFinishTimeFairness(const GoldenCase& golden) {
  Problem problem = AsV100(golden, kAware);
  Measures measures;
  for (const LpMethod method : kMethods) {
    gavel::LevelLp lp(method);
    gavel::FinishTimeFairness fairness;
    Allocation x;
    double rho = 0.0;
    if (!fairness.Solve(problem, lp, x, &rho)) return Failed();
    if (kSecondCall) {
      Problem later = problem;
      golden.policy.at("num_steps_remaining").get_to(later.remaining);
      golden.policy.at("time_since_start").get_to(later.since);
      if (!fairness.Solve(later, lp, x, &rho)) return Failed();
    }
    Append(measures, {{"objective", Relative(rho, Optimum(golden.policy)), kObjective},
                      {"constraints", BaseViolation(problem, x), kConstraint}});
  }
  return measures;
}

template <bool kPerCost, bool kDeadlines>
Measures CheckThroughput(const GoldenCase& golden) {
  Problem problem = golden.problem;
  std::vector<double> price(problem.workers.size(), 1.0);
  for (std::size_t j = 0; kPerCost && j < price.size(); ++j) {
    price[j] = golden.policy.at("instance_costs").at(problem.type_names[j]);
  }
  if (kDeadlines) {
    for (const auto& [job, seconds] : golden.policy.at("SLOs").items()) {
      const auto at = std::find(problem.key.begin(), problem.key.end(), std::stoi(job)) - problem.key.begin();
      problem.left.at(static_cast<std::size_t>(at)) = seconds;
    }
  }
  Measures measures;
  for (const LpMethod method : kMethods) {
    gavel::ThroughputSum sum(method);
    Allocation x;
    bool feasible = false;
    if (!sum.Solve(problem, price, kDeadlines, x, &feasible)) return Failed();
    double objective = 0.0;
    for (std::size_t k = 0; k < x.size(); ++k) objective += problem.throughput[k] / price[k % price.size()] * x[k];
    Append(measures, {{"objective", Relative(objective, Optimum(golden.policy)), kObjective},
                      {"constraints", BaseViolation(problem, x), kConstraint}});
    if (kDeadlines) {
      const bool recorded = golden.policy.at("slo_feasible");
      measures.push_back({"deadlines kept or not, apart", feasible == recorded ? 0.0 : 1.0, 0.0});
    }
    if (method == LpMethod::kEmbedding) {
      measures.push_back({"allocation, solver=reference", Apart(x, golden.policy.at("allocation")), kShown});
    }
  }
  return measures;
}

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
      const auto at = std::find(problem.key.begin(), problem.key.end(), job.get<int>()) - problem.key.begin();
      problem.tenant.at(static_cast<std::size_t>(at)) = tenant;
    }
  }
  const std::vector<double> recorded = golden.policy.at("normalized_effective_throughputs");
  Measures measures;
  for (const LpMethod method : kMethods) {
    gavel::WaterFilling filling(method);
    gavel::WaterLevels answer;
    if (!filling.Solve(problem, {.by_tenant = true, .reference_cap = true}, answer)) return Failed();
    // Where the reference stops at its cap, some jobs are promised less than they get, and how much more is
    // up to the solver: those are compared at the reference's point alone.
    double settled = 0.0, promised = 0.0;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      if (answer.saturated.at(i)) settled = std::max(settled, Relative(answer.net[i], recorded[i]));
      promised = std::max(promised, (answer.promised.at(i) - recorded[i]) / recorded[i]);
    }
    Append(measures, {{"normalised throughputs, saturated jobs", settled, kObjective},
                      {"promised but not given there", promised, kObjective},
                      {"constraints", BaseViolation(problem, answer.x), kConstraint}});
    if (method == LpMethod::kEmbedding) {
      measures.push_back({"normalised throughputs, all jobs, solver=reference", Worst(answer.net, recorded),
                          kShown});
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

constexpr const char* kBrokenFifo = "records a bug of the reference (gavel/SPEC.md §8.1)";

constexpr GoldenPolicy kPolicies[] = {
    {"isolated", CheckSplit<gavel::IsolatedAllocation>},
    {"proportional", CheckSplit<gavel::ProportionalAllocation>},
    {"max_min_fairness_perf", CheckMaxMin<true>},
    {"max_min_fairness", CheckMaxMin<false>},
    {"max_min_fairness_water_filling_perf", CheckWaterFilling<true>},
    {"max_min_fairness_water_filling", CheckWaterFilling<false>},
    {"hierarchical_water_filling_perf", CheckHierarchical},
    {"finish_time_fairness_perf", CheckFinishTimeFairness<true, false>},
    {"finish_time_fairness_perf_second_call", CheckFinishTimeFairness<true, true>},
    {"finish_time_fairness", CheckFinishTimeFairness<false, false>},
    {"finish_time_fairness_second_call", CheckFinishTimeFairness<false, true>},
    {"min_total_duration_perf", CheckMakespan<true>},
    {"min_total_duration", CheckMakespan<false>},
    {"max_sum_throughput_perf", CheckThroughput<false, false>},
    {"max_sum_throughput_normalized_by_cost_perf", CheckThroughput<true, false>},
    {"max_sum_throughput_normalized_by_cost_perf_SLOs", CheckThroughput<true, true>},
    {"max_sum_throughput_normalized_by_cost_perf_SLOs_loose", CheckThroughput<true, true>},
    {"fifo_perf", CheckFifo},
    {"fifo_base_seed0", nullptr, kBrokenFifo},
    {"fifo_base_seed1", nullptr, kBrokenFifo},
    {"allox", CheckAllox},
    {"max_min_fairness_strategy_proof_perf", CheckStrategyProof},
};

}  // namespace

std::span<const GoldenPolicy> SingleJobGoldens() {
  return kPolicies;
}

gavel::Problem ReadGoldenProblem(const Json& instance) {
  Problem problem;
  for (const char* type : kGoldenTypes) {
    problem.type_names.emplace_back(type);
    problem.workers.push_back(instance.at("cluster_spec").at(type));
    problem.price.push_back(0.0);
  }
  problem.tenants.push_back({});
  for (const Json& job : instance.at("jobs")) {
    problem.key.push_back(job.at("job_id"));
    problem.gang.push_back(job.at("scale_factor"));
    problem.weight.push_back(job.at("priority_weight"));
    for (const char* type : kGoldenTypes) problem.throughput.push_back(job.at("throughput").at(type));
    problem.remaining.push_back(job.at("num_steps_remaining"));
    problem.since.push_back(job.at("time_since_start"));
    problem.left.push_back(kLpInfinity);
    problem.tenant.push_back(0);
  }
  return problem;
}

double BaseViolation(const gavel::Problem& problem, const gavel::Allocation& x) {
  double worst = x.size() == problem.throughput.size() ? 0.0 : kFailed;
  for (int i = 0; i < problem.jobs(); ++i) {
    double sum = 0.0;
    for (int j = 0; j < problem.types(); ++j) {
      sum += x.at(problem.at(i, j));
      worst = std::max(worst, -x[problem.at(i, j)]);
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

}  // namespace berth
