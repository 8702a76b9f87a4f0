// How far down row 1's mean JCT can go. In steady state the mean number of jobs in the system is the arrival
// rate times the mean JCT (Little 1961), and no scheduler, clairvoyant or not, has fewer jobs running than
// the least fluid allocation of all work to the GPUs: minimise sum over classes c and types t of x_ct tau_ct,
// with tau_ct the time a mean job of the class takes there and x_ct the share of its work, sum_t x_ct = 1,
// and for each type  rate sum_c share_c gang_c x_ct tau_ct <= its GPUs. Queueing only adds to it.
#include "tools/reproduce/learned/bound.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "baselines/lp.hpp"
#include "env/base/index.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

struct Class {
  double jobs = 0.0, steps = 0.0;
  int example = 0;
};

}  // namespace

double LeastMeanJct(const Scenario& scenario, double rate_per_s) {
  std::map<std::pair<int, int>, Class> classes;  // job type, gang
  const JobTable& jobs = scenario.data().jobs;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    Class& its = classes[{jobs.job_type[U(job)], jobs.gang[U(job)]}];
    its.jobs += 1.0;
    its.steps += jobs.total_steps[U(job)];
    its.example = job;
  }
  LpModel model;
  std::vector<std::vector<std::pair<int, double>>> gpus(U(scenario.num_types()));  // column, GPU time
  for (const auto& [key, its] : classes) {
    const double share = its.jobs / scenario.num_jobs();
    for (int type = 0; type < scenario.num_types(); ++type) {
      const double steps_s = scenario.Rate(its.example, type);
      if (steps_s <= 0.0) continue;
      const double seconds = share * its.steps / its.jobs / steps_s;
      const int column = model.AddColumn(seconds, 0.0, kLpInfinity);
      model.AddEntry(column, 1.0);
      gpus[U(type)].emplace_back(column, rate_per_s * key.second * seconds);
    }
    model.EndRow(1.0, 1.0);
  }
  for (int type = 0; type < scenario.num_types(); ++type) {
    for (const auto& [column, busy] : gpus[U(type)]) model.AddEntry(column, busy);
    model.EndRow(-kLpInfinity, scenario.data().cluster.types[U(type)].count);
  }
  LpSolution solution;
  const LpStatus status = LpSolver().Solve(model, LpMethod::kSimplex, solution);
  return status == LpStatus::kOptimal ? solution.objective : std::numeric_limits<double>::quiet_NaN();
}

void PlanBound(const LearnedSettings&, ReproductionRuns&) {}

void ReportBound(const LearnedSettings& settings, const ReproductionRuns&, LearnedPage& out) {
  out.page.Heading("How far down it can go");
  out.page.Paragraph(
      "No scheduler, clairvoyant or not, has in steady state a mean JCT below the least mean number of "
      "running "
      "jobs over the arrival rate: a linear program over the classes of jobs that the first workload draws, "
      "at "
      "the nominal rate, and GPU types. Where more work arrives than 108 GPUs can do there is no steady "
      "state, "
      "and what is measured depends on how many jobs are drawn.");
  std::vector<Cells> rows;
  for (const Load& load : kLoads) {
    LoadGrid grid;
    grid.loads = {load};
    grid.seeds = settings.workloads;
    grid.drawn = settings.drawn;
    const double seconds = LeastMeanJct(grid.Sample(), load.rate / 3600.0);
    rows.push_back({load.Name(), std::isnan(seconds) ? "more work than GPUs" : Hours(seconds)});
  }
  out.page.Rows({"load", "least mean JCT, h"}, rows);
}

}  // namespace berth
