// Checks of the policies that pack: on the independent optimum, or on the reference's own objective where
// there is none. Throughputs of these policies pass through float32 in the reference, which moves no
// objective by 1e-6.
#include <algorithm>
#include <array>
#include <cmath>

#include "baselines/gavel/packed_objectives.hpp"
#include "tools/reproduce/gavel_golden_checks.hpp"

namespace berth {
namespace {

using gavel::PackedAllocation;
using gavel::PackedLp;
using gavel::PackedProblem;
using namespace golden;

PackedProblem ReadPacked(const GoldenCase& golden) {
  PackedProblem packed{golden.problem, {}};
  const gavel::Problem& base = packed.base;
  packed.beside.assign(base.key.size() * base.throughput.size(), 0.0);
  for (const auto& [name, rates] : golden.instance.at("pair_throughput").items()) {
    const auto index = [&base](const std::string& id) {
      return static_cast<int>(JobRow(base, std::stoi(id)));
    };
    const std::size_t comma = name.find(',');
    const int a = index(name.substr(0, comma)), b = index(name.substr(comma + 1));
    for (int j = 0; j < base.types(); ++j) {
      const Json& both = rates.at(base.type_names[static_cast<std::size_t>(j)]);
      packed.beside.at(base.at(a * base.jobs() + b, j)) = both.at(0);
      packed.beside.at(base.at(b * base.jobs() + a, j)) = both.at(1);
    }
  }
  return packed;
}

Measures CheckPackedMaxMin(const GoldenCase& golden) {
  const PackedProblem problem = ReadPacked(golden);
  const std::vector<double> prop = gavel::ProportionalThroughput(problem.base);
  Measures measures;
  for (const LpMethod method : kMethods) {
    PackedLp lp(method);
    PackedAllocation x;
    double level = 0.0;
    if (!PackedMaxMin(problem, lp, x, &level)) return Failed();
    const std::vector<double> speed = EffectiveThroughput(problem, x);
    double reached = kNoAnswer;
    for (std::size_t i = 0; i < speed.size(); ++i) {
      reached = std::min(reached, problem.base.gang[i] * speed[i] / (problem.base.weight[i] * prop[i]));
    }
    measures.push_back({"objective", Relative(level, Optimum(golden.policy)), kObjective});
    measures.push_back({"objective", Relative(reached, Optimum(golden.policy)), kObjective});
    measures.push_back({"constraints", Violation(problem, x), kConstraint});
  }
  return measures;
}

double PackedDuration(const PackedProblem& problem, const PackedAllocation& x) {
  const std::vector<double> speed = EffectiveThroughput(problem, x);
  double longest = 0.0;
  for (std::size_t i = 0; i < speed.size(); ++i) {
    longest = std::max(longest, problem.base.remaining[i] / speed[i]);
  }
  return longest;
}

Measures CheckPackedMakespan(const GoldenCase& golden) {
  const PackedProblem problem = ReadPacked(golden);
  const double optimum = Optimum(golden.policy);
  Measures measures;
  for (const LpMethod method : kMethods) {
    PackedLp lp(method);
    gavel::PackedMakespanAnswer answer;
    if (!PackedMakespan(problem, lp, answer)) return Failed();
    const Measures more = {{"objective", Relative(answer.seconds, optimum), kObjective},
                           {"objective", Relative(PackedDuration(problem, answer.x), optimum), kObjective},
                           {"constraints", Violation(problem, answer.x), kConstraint}};
    measures.insert(measures.end(), more.begin(), more.end());
  }
  return measures;
}

Measures CheckPackedFinishTimeFairness(const GoldenCase& golden) {
  const PackedProblem problem = ReadPacked(golden);
  Measures measures;
  for (const LpMethod method : kMethods) {
    PackedLp lp(method);
    gavel::PackedFinishTimeFairness fairness;
    PackedAllocation x;
    double rho = 0.0;
    if (!fairness.Solve(problem, lp, x, &rho)) return Failed();
    measures.push_back({"objective", Relative(rho, Optimum(golden.policy)), kObjective});
    measures.push_back({"constraints", Violation(problem, x), kConstraint});
  }
  return measures;
}

Measures CheckThroughputPerCost(const GoldenCase& golden) {
  PackedProblem problem = ReadPacked(golden);
  std::vector<double> price;
  for (const std::string& type : problem.base.type_names) {
    price.push_back(golden.policy.at("instance_costs").at(type));
  }
  for (const auto& [job, seconds] : golden.policy.at("SLOs").items()) {
    problem.base.left[JobRow(problem.base, std::stoi(job))] = seconds;
  }
  Measures measures;
  for (const LpMethod method : kMethods) {
    PackedLp lp(method);
    PackedAllocation x;
    bool feasible = false;
    if (!PackedThroughputPerCost(problem, lp, price, true, x, &feasible)) return Failed();
    double objective = 0.0;
    for (int j = 0; j < problem.base.types(); ++j) {
      PackedAllocation one = x;  // what runs on this type
      for (std::size_t k = 0; k < one.alone.size(); ++k) {
        if (k % price.size() != static_cast<std::size_t>(j)) one.alone[k] = 0.0;
      }
      for (std::size_t k = 0; k < one.together.size(); ++k) {
        if (k % price.size() != static_cast<std::size_t>(j)) one.together[k] = 0.0;
      }
      for (double speed : EffectiveThroughput(problem, one))
        objective += speed / price[static_cast<std::size_t>(j)];
    }
    measures.push_back({"objective", Relative(objective, Optimum(golden.policy)), kObjective});
    measures.push_back({"constraints", Violation(problem, x), kConstraint});
    if (golden.policy.contains("slo_feasible")) {
      const bool recorded = golden.policy["slo_feasible"];
      measures.push_back({"deadlines kept or not, apart", feasible == recorded ? 0.0 : 1.0, 0.0});
    }
  }
  return measures;
}

// Exactly: the recorded rows stand in the order of the instance's combos.
Measures CheckPackedFifo(const GoldenCase& golden) {
  const PackedProblem problem = ReadPacked(golden);
  const gavel::Problem& base = problem.base;
  const PackedAllocation x = PackedFifo(problem, gavel::TypesByName(base));
  const Json& combos = golden.instance.at("combos");
  const Json& rows = golden.policy.at("allocation_combos");
  double apart = rows.size() == combos.size() ? 0.0 : kNoAnswer;
  for (std::size_t c = 0; c < combos.size() && apart < kNoAnswer; ++c) {
    std::vector<int> jobs;
    for (const Json& id : combos.at(c)) jobs.push_back(static_cast<int>(JobRow(base, id.get<int>())));
    for (int j = 0; j < base.types(); ++j) {
      double share = jobs.size() == 1 ? x.alone[base.at(jobs[0], j)] : 0.0;
      for (std::size_t p = 0; jobs.size() == 2 && p < x.pairs.size(); ++p) {
        if (x.pairs[p] == std::array<int, 2>{jobs[0], jobs[1]})
          share = x.together[base.at(static_cast<int>(p), j)];
      }
      apart = std::max(apart, std::abs(share - rows.at(c).at(static_cast<std::size_t>(j)).get<double>()));
    }
  }
  return {{"allocation", apart, 0.0}};
}

constexpr GoldenPolicy kPackedGoldens[] = {
    {"max_min_fairness_packed", CheckPackedMaxMin},
    {"min_total_duration_packed", CheckPackedMakespan},
    {"finish_time_fairness_packed", CheckPackedFinishTimeFairness},
    {"max_sum_throughput_normalized_by_cost_packed_SLOs", CheckThroughputPerCost},
    {"fifo_packed", CheckPackedFifo},
};

}  // namespace

std::span<const GoldenPolicy> PackedGoldens() {
  return kPackedGoldens;
}

}  // namespace berth
