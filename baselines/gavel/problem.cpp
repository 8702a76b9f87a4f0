#include "baselines/gavel/problem.hpp"

#include <algorithm>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
void Problem::Clear() {
  for (auto* column : {&workers, &key, &gang, &tenant}) column->clear();
  for (auto* column : {&weight, &throughput, &remaining, &since, &left, &price}) column->clear();
  tenants.clear();
  type_names.clear();
}

Allocation ProportionalAllocation(const Problem& problem) {
  double total = 0.0;
  for (int workers : problem.workers) total += workers;
  Allocation x(U(problem.jobs()) * U(problem.types()));
  for (int i = 0; i < problem.jobs(); ++i) {
    for (int j = 0; j < problem.types(); ++j) x[problem.at(i, j)] = problem.workers[U(j)] / total;
  }
  return x;
}

std::vector<double> ProportionalThroughput(const Problem& problem) {
  return EffectiveThroughput(problem, ProportionalAllocation(problem));
}

std::vector<double> WorthScale(const Problem& problem) {
  std::vector<double> scale = ProportionalThroughput(problem);
  for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = problem.gang[i] / (problem.weight[i] * scale[i]);
  return scale;
}

std::vector<double> NormalizedWorth(const Problem& problem) {
  const std::vector<double> scale = WorthScale(problem);
  std::vector<double> worth = problem.throughput;
  for (int i = 0; i < problem.jobs(); ++i) {
    for (int j = 0; j < problem.types(); ++j) worth[problem.at(i, j)] *= scale[U(i)];
  }
  return worth;
}

Allocation IsolatedAllocation(const Problem& problem) {
  const double m = problem.jobs();
  Allocation x(U(problem.jobs()) * U(problem.types()));
  for (int i = 0; i < problem.jobs(); ++i) {
    double sum = 0.0;
    for (int j = 0; j < problem.types(); ++j) {
      x[problem.at(i, j)] = problem.workers[U(j)] / m / problem.gang[U(i)];
      sum += x[problem.at(i, j)];
    }
    if (sum <= 1.0) continue;
    for (int j = 0; j < problem.types(); ++j) x[problem.at(i, j)] /= sum;
  }
  return x;
}

std::vector<double> EffectiveThroughput(const Problem& problem, std::span<const double> allocation) {
  std::vector<double> result(U(problem.jobs()), 0.0);
  for (int i = 0; i < problem.jobs(); ++i) {
    for (int j = 0; j < problem.types(); ++j) {
      result[U(i)] += problem.throughput[problem.at(i, j)] * allocation[problem.at(i, j)];
    }
  }
  return result;
}

std::vector<int> TypesByName(const Problem& problem) {
  std::vector<int> order(problem.workers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&problem](int a, int b) { return problem.type_names[U(a)] < problem.type_names[U(b)]; });
  return order;
}

int BasisType(const Problem& problem) {
  const auto at = std::find(problem.type_names.begin(), problem.type_names.end(), "v100");
  return at == problem.type_names.end() ? 0 : static_cast<int>(at - problem.type_names.begin());
}

Problem WithUnitThroughput(const Problem& problem) {
  Problem result = problem;
  std::fill(result.throughput.begin(), result.throughput.end(), 1.0);
  return result;
}

Problem WithThroughputOf(const Problem& problem, int type) {
  Problem result = problem;
  for (int i = 0; i < problem.jobs(); ++i) {
    const auto row = problem.throughput.begin() + static_cast<std::ptrdiff_t>(problem.at(i, 0));
    double rate = problem.throughput[problem.at(i, type)];
    if (rate <= 0.0) rate = *std::max_element(row, row + problem.types());
    for (int j = 0; j < problem.types(); ++j) result.throughput[problem.at(i, j)] = rate;
  }
  return result;
}

std::vector<double> IsolatedProgress::Advance(const Problem& problem) {
  const std::vector<double> isolated = EffectiveThroughput(problem, IsolatedAllocation(problem));
  std::vector<double> alone;
  for (std::size_t i = 0; i < problem.key.size(); ++i) {
    const auto key = static_cast<std::size_t>(problem.key[i]);
    if (key >= memory_.size()) memory_.resize(key + 1);
    BERTH_CHECK(problem.remaining[i] > 0.0, "job ", key, " has nothing left to do");
    Memory& memory = memory_[key];
    if (memory.seen) memory.cumulative += (memory.remaining - problem.remaining[i]) / memory.isolated;
    memory.remaining = problem.remaining[i];
    memory.isolated = isolated[i];
    memory.seen = true;
    alone.push_back(memory.cumulative + problem.remaining[i] / isolated[i]);
  }
  return alone;
}

void AddShares(const Problem& problem, std::span<const double> cost, LpModel& model,
               std::span<const double> members) {
  for (std::size_t k = 0; k < problem.throughput.size(); ++k) {
    const double its = members.empty() ? 1.0 : members[k / problem.workers.size()];
    model.AddColumn(cost.empty() ? 0.0 : cost[k], 0.0, kLpInfinity, its);
  }
}

void AddBaseRows(const Problem& problem, LpModel& model, std::span<const double> members) {
  const int m = problem.jobs(), types = problem.types();
  const auto of = [&members](int i) { return members.empty() ? 1.0 : members[U(i)]; };
  for (int j = 0; j < types; ++j) {
    for (int i = 0; i < m; ++i) {
      model.AddEntry(static_cast<int>(problem.at(i, j)), problem.gang[U(i)] * of(i), of(i));
    }
    model.EndRow(-kLpInfinity, problem.workers[U(j)]);
  }
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < types; ++j) model.AddEntry(static_cast<int>(problem.at(i, j)), 1.0);
    model.EndRow(-kLpInfinity, 1.0, of(i));
  }
}

void TakeShares(const Problem& problem, const LpSolution& solution, Allocation& x) {
  x.resize(problem.throughput.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::clamp(solution.x[k], 0.0, 1.0);
}

}  // namespace berth::gavel
