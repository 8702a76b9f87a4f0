#include "tools/reproduce/learned/least_makespan.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "baselines/lp.hpp"
#include "env/base/index.hpp"

namespace berth {

double LeastMakespan(const Scenario& scenario) {
  const JobTable& jobs = scenario.data().jobs;
  LpModel model;
  const int makespan = model.AddColumn(1.0, 0.0, kLpInfinity);
  std::vector<std::vector<std::pair<int, double>>> busy(U(scenario.num_types()));  // column, GPUs
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    std::vector<std::pair<int, double>> runs;  // column, steps a second
    for (int type = 0; type < scenario.num_types(); ++type) {
      const double rate = scenario.Rate(job, type);
      if (rate <= 0.0) continue;
      runs.emplace_back(model.AddColumn(0.0, 0.0, kLpInfinity), rate);
      busy[U(type)].emplace_back(runs.back().first, jobs.gang[U(job)]);
    }
    // In seconds on the fastest type, so that rows are of one size.
    const double best = scenario.BestRate(job), seconds = jobs.total_steps[U(job)] / best;
    for (const auto& [column, rate] : runs) model.AddEntry(column, rate / best);
    model.EndRow(seconds, seconds);
    for (const auto& [column, rate] : runs) model.AddEntry(column, 1.0);
    model.AddEntry(makespan, -1.0);
    model.EndRow(-kLpInfinity, 0.0);
  }
  for (int type = 0; type < scenario.num_types(); ++type) {
    for (const auto& [column, gpus] : busy[U(type)]) model.AddEntry(column, gpus);
    model.AddEntry(makespan, -scenario.data().cluster.types[U(type)].count);
    model.EndRow(-kLpInfinity, 0.0);
  }
  LpSolution solution;
  const LpStatus status = LpSolver().Solve(model, LpMethod::kSimplex, solution);
  return status == LpStatus::kOptimal ? solution.objective : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace berth
