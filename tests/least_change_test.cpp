// Which of many optima gavel(ties=stable) takes: by hand, against a linear program that writes every change
// out, and through the scheduler.
#include "baselines/gavel/least_change.hpp"

#include <cmath>
#include <vector>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "tests/catch.hpp"
#include "tests/certified_problems.hpp"
#include "tests/gavel_objectives.hpp"

namespace berth::gavel {
namespace {

double ChangeOf(const Problem& problem, const Allocation& last, const Allocation& x) {
  double sum = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (problem.throughput[k] > 0.0) sum += problem.gang[k / problem.workers.size()] * std::abs(x[k] - last[k]);
  return sum;
}

// min sum gang (up + down), x - up + down = last, by HiGHS' interior point.
double LeastChangeWrittenOut(const Problem& problem, const Promise& promise, const Allocation& last) {
  LpModel model;
  AddShares(problem, {}, model);
  for (std::size_t k = 0; k < last.size(); ++k) {
    const double gang = problem.gang[k / problem.workers.size()];
    model.AddColumn(gang, 0.0, kLpInfinity), model.AddColumn(gang, 0.0, kLpInfinity);
  }
  AddBaseRows(problem, model);
  const int shares = static_cast<int>(last.size());
  for (int k = 0; k < shares; ++k) {
    model.AddEntry(k, 1.0), model.AddEntry(shares + 2 * k, -1.0), model.AddEntry(shares + 2 * k + 1, 1.0);
    model.EndRow(last[U(k)], last[U(k)]);
  }
  for (int i = 0; !promise.least.empty() && i < problem.jobs(); ++i) {
    for (int j = 0; j < problem.types(); ++j)
      model.AddEntry(static_cast<int>(problem.at(i, j)), promise.worth[problem.at(i, j)] / promise.least[U(i)]);
    model.EndRow(1.0 - 2e-8, kLpInfinity);
  }
  if (!promise.value.empty()) {
    for (int k = 0; k < shares; ++k) model.AddEntry(k, promise.value[U(k)] / promise.sum);
    model.EndRow(1.0 - 2e-8, kLpInfinity);
  }
  LpSolver solver;
  LpSolution solution;
  REQUIRE(solver.Solve(model, LpMethod::kInteriorPoint, solution) == LpStatus::kOptimal);
  return solution.objective;
}

void CheckKept(const Problem& problem, const Promise& promise, const Allocation& x) {
  CHECK(ShortOf(problem, promise, x) <= 1e-7);
  std::vector<double> used(problem.workers.size(), 0.0);
  for (int i = 0; i < problem.jobs(); ++i) {
    double time = 0.0;
    for (int j = 0; j < problem.types(); ++j) {
      CHECK(x[problem.at(i, j)] >= 0.0);
      time += x[problem.at(i, j)];
      used[U(j)] += problem.gang[U(i)] * x[problem.at(i, j)];
    }
    CHECK(time <= 1.0 + 1e-8);
  }
  for (int j = 0; j < problem.types(); ++j) CHECK(used[U(j)] <= problem.workers[U(j)] + 1e-7);
}

}  // namespace

// Jobs 0 and 1 run alike on both of two GPUs, and half of each is promised to both. Job 0 had all of GPU 0, so
// it gives up half of it to nobody: job 1 had GPU 1 and keeps half of that.
TEST_CASE("least change: by hand", "[gavel]") {
  Problem problem;
  problem.workers = {1, 1};
  problem.key = {0, 1}, problem.gang = {1, 1}, problem.weight = {1.0, 1.0};
  problem.throughput = {1.0, 1.0, 1.0, 1.0};
  const Promise promise{.worth = problem.throughput, .value = {}, .least = {0.5, 0.5}};
  LeastChange least_change(1e9);
  Allocation x = {0.25, 0.25, 0.25, 0.25};
  least_change.Settle(problem, promise, {1.0, 0.0, 0.0, 1.0}, x);
  CHECK(x[0] == Approx(1.0).margin(1e-7));
  CHECK(x[3] == Approx(1.0).margin(1e-7));
  CHECK(x[1] + x[2] == Approx(0.0).margin(1e-7));
  // A third job is promised a whole GPU: one of the two makes room, the later one, for whom a change weighs
  // more, does not.
  problem.key = {0, 1, 2}, problem.gang = {1, 1, 1}, problem.weight = {1.0, 1.0, 1.0};
  problem.throughput.assign(6, 1.0);
  const Promise three{.worth = problem.throughput, .value = {}, .least = {0.5, 0.5, 1.0}};
  x = {0.25, 0.25, 0.25, 0.25, 0.5, 0.5};
  least_change.Settle(problem, three, {1.0, 0.0, 0.0, 1.0, 0.5, 0.5}, x);
  CHECK(x[0] == Approx(0.5).margin(1e-6));
  CHECK(x[3] == Approx(0.5).margin(1e-6));
  CHECK(x[4] + x[5] == Approx(1.0).margin(1e-6));
}

TEST_CASE("least change: every objective with ties, against a program that writes changes out", "[gavel]") {
  for (const NamedObjective& row : NamedObjectives()) {
    if (!row.info.ties) continue;
    INFO(row.name);
    for (std::uint32_t round = 0; round < 30; ++round) {
      INFO("round " << round);
      const auto objective = MakeObjective(row.info, /*warm=*/false);
      const Problem problem = test::RandomProblem(round);
      Allocation x;
      if (!objective->Allocate(problem, x)) continue;
      Promise promise;
      objective->Promised(problem, x, promise);
      // The last allocation was made for other weights and speeds.
      Problem other = problem;
      for (double& rate : other.throughput) rate = rate > 0.0 ? 1.0 + std::fmod(7.0 * rate, 1.0) : 0.0;
      Allocation last;
      REQUIRE(MakeObjective(MaxMinObjective(), false)->Allocate(other, last));
      for (std::size_t k = 0; k < last.size(); ++k) last[k] = problem.throughput[k] > 0.0 ? last[k] : 0.0;
      const double before = ChangeOf(problem, last, x);
      LeastChange least_change(1e9);
      least_change.Settle(problem, promise, last, x);
      CheckKept(problem, promise, x);
      const double change = ChangeOf(problem, last, x);
      CHECK(change <= before + 1e-7);
      CHECK(change == Approx(LeastChangeWrittenOut(problem, promise, last)).epsilon(2e-5).margin(1e-6));
    }
  }
}

TEST_CASE("least change: objectives without it say so", "[gavel][cli]") {
  const auto make = [](const char* spec) { return MakeScheduler(spec, std::vector<SchedulerTable>{BaselineSchedulers()}); };
  CHECK_THROWS_WITH(make("gavel(objective=fifo,ties=stable)"), Catch::Contains("objective=fifo has no ties=stable"));
  CHECK_THROWS_WITH(make("gavel(packed=true,ties=stable)"), Catch::Contains("packed=true has no ties=stable"));
  CHECK_THROWS_WITH(make("gavel(objective=allox,solver=warm)"), Catch::Contains("has no solver=warm"));
  CHECK_NOTHROW(make("gavel(solver=warm,ties=stable)"));
}

}  // namespace berth::gavel
