#include "tools/reproduce/gavel_golden_checks.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "env/base/check.hpp"

namespace berth {

using gavel::Problem;

namespace golden {

double Relative(double value, double expected) {
  return std::abs(value - expected) / std::max(std::abs(expected), 1e-12);
}

void CheckProblem(const Problem& problem) {
  const auto expect = [](bool holds, const char* what, double found) {
    if (!holds) throw std::out_of_range(Join(what, " of ", found));
  };
  constexpr int kMostGpus = 100'000;
  for (const int count : problem.workers)
    expect(count >= 0 && count <= kMostGpus, "GPUs of a type, 0 to 100000, a cluster_spec", count);
  const std::size_t jobs = problem.key.size();
  if (problem.remaining.size() != jobs || problem.since.size() != jobs)
    throw std::out_of_range("num_steps_remaining or time_since_start of other jobs");
  for (std::size_t i = 0; i < jobs; ++i) {
    expect(problem.gang[i] >= 1 && problem.gang[i] <= kMostGpus, "a scale_factor", problem.gang[i]);
    expect(problem.weight[i] > 0.0 && std::isfinite(problem.weight[i]), "a priority_weight",
           problem.weight[i]);
    expect(problem.remaining[i] > 0.0, "num_steps_remaining", problem.remaining[i]);
    expect(problem.since[i] >= 0.0, "a time_since_start", problem.since[i]);
  }
  for (const double rate : problem.throughput)
    expect(rate >= 0.0 && std::isfinite(rate), "a throughput", rate);
}

std::size_t JobRow(const Problem& problem, int id) {
  const auto at = std::find(problem.key.begin(), problem.key.end(), id);
  if (at == problem.key.end()) throw std::out_of_range(Join("job ", id, ", which no job has as its job_id"));
  return static_cast<std::size_t>(at - problem.key.begin());
}

double Worst(const std::vector<double>& values, const std::vector<double>& expected) {
  double worst = values.size() == expected.size() ? 0.0 : kNoAnswer;
  for (std::size_t i = 0; i < values.size() && i < expected.size(); ++i) {
    worst = std::max(worst, Relative(values[i], expected[i]));
  }
  return worst;
}

double Optimum(const Json& policy) {
  const bool independent = policy.contains("objective_opt") && policy["objective_opt"].is_number();
  return independent ? policy["objective_opt"] : policy.at("objective");
}

double Apart(const gavel::Allocation& x, const Json& rows) {
  double worst = 0.0;
  std::size_t k = 0;
  for (const Json& row : rows) {
    for (const Json& value : row) {
      if (k == x.size()) return kNoAnswer;
      worst = std::max(worst, std::abs(x[k++] - value.get<double>()));
    }
  }
  return k == x.size() ? worst : kNoAnswer;
}

Problem AsSeen(const GoldenCase& golden, bool aware) {
  return aware ? golden.problem : gavel::WithUnitThroughput(golden.problem);
}

Measures Failed() {
  return {{"objective", kNoAnswer, kObjective}};
}

void Append(Measures& to, const Measures& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace golden

gavel::Problem ReadGoldenProblem(const Json& instance) {
  Problem problem;
  for (const auto& [type, count] : instance.at("cluster_spec").items()) {
    problem.type_names.push_back(type);
    problem.workers.push_back(count);
    problem.price.push_back(0.0);
  }
  if (problem.type_names.empty()) throw std::out_of_range("a cluster_spec without types");
  problem.tenants.push_back({});
  for (const Json& job : instance.at("jobs")) {
    problem.key.push_back(job.at("job_id"));
    problem.gang.push_back(job.at("scale_factor"));
    problem.weight.push_back(job.at("priority_weight"));
    for (const std::string& type : problem.type_names)
      problem.throughput.push_back(job.at("throughput").at(type));
    problem.remaining.push_back(job.at("num_steps_remaining"));
    problem.since.push_back(job.at("time_since_start"));
    problem.left.push_back(kLpInfinity);
    problem.tenant.push_back(0);
  }
  golden::CheckProblem(problem);
  return problem;
}

double BaseViolation(const gavel::Problem& problem, const gavel::Allocation& x) {
  double worst = x.size() == problem.throughput.size() ? 0.0 : golden::kNoAnswer;
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
