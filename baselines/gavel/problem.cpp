#include "baselines/gavel/problem.hpp"

#include <algorithm>
#include <numeric>

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

}  // namespace berth::gavel
