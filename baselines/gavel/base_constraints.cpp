#include "baselines/gavel/base_constraints.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth::gavel {
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
