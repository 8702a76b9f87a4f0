// How far down row 1's mean JCT can go. In steady state the mean number of jobs in the system is the arrival
// rate times the mean JCT (Little 1961), and no scheduler, clairvoyant or not, has fewer jobs running than
// the least fluid allocation of all work to the GPUs: minimise sum over classes c and types t of x_ct tau_ct,
// with tau_ct the time a mean job of the class takes there and x_ct the share of its work, sum_t x_ct = 1,
// and for each type  rate sum_c share_c gang_c x_ct tau_ct <= its GPUs. Queueing only adds to it.
//
// It bounds the mean over all that the generator could draw, and no single workload: of 8,000 jobs the work
// differs by some per cent from one workload to the next, and of the 1,000 that are measured by more. So it
// is averaged over workloads. The least of a linear program is convex in the work of the classes, so that the
// average is a little above what the jobs of all workloads together give (Jensen; 0.1 to 0.2% at row 1's
// loads, 0.9% at 2.6 gangs/h), which is less than the margin of its interval.
#include "tools/reproduce/learned/bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "baselines/lp.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/statistics.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr std::uint64_t kBoundBootstrapSeed = 8;

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

std::vector<double> LeastMeanJcts(const LoadGrid& grid, std::size_t load) {
  std::vector<double> least;
  for (const std::uint64_t seed : grid.seeds)
    least.push_back(LeastMeanJct(grid.Workload(grid.loads[load], seed).make(),
                                 grid.loads[load].rate * grid.scale / 3600.0));
  return least;
}

void PlanBound(const LearnedSettings&, ReproductionRuns&) {}

void ReportBound(const LearnedSettings& settings, const ReproductionRuns&, LearnedPage& out) {
  out.page.Heading("How far down it can go");
  LoadGrid grid;
  grid.loads.assign(std::begin(kLoads), std::end(kLoads));
  grid.seeds = settings.workloads;
  grid.drawn = settings.drawn;
  out.page.Paragraph(Join(
      "No scheduler, clairvoyant or not, has in steady state a mean JCT below the least mean number of "
      "running jobs over the arrival rate: a linear program over the classes of jobs that a workload "
      "draws, at the nominal rate, and GPU types. It is an expectation: the mean over ",
      grid.seeds.size(),
      " workloads, with its 95% interval, is to be held against a mean over the same ones; the jobs that "
      "are measured of one workload may have a mean below that workload's own. Where more work arrives "
      "than 108 GPUs can do there is no steady state, and what is measured depends on how many jobs are "
      "drawn."));
  std::vector<Cells> rows;
  for (std::size_t load = 0; load < grid.loads.size(); ++load) {
    const std::vector<double> least = LeastMeanJcts(grid, load);
    const auto over = std::count_if(least.begin(), least.end(), [](double it) { return std::isnan(it); });
    if (over > 0) {
      const bool all = over == std::ssize(least);
      rows.push_back({grid.loads[load].Name(),
                      Join("more work than GPUs", all ? "" : Join(" in ", over, " of ", least.size())), ""});
      continue;
    }
    const auto [lowest, highest] = std::minmax_element(least.begin(), least.end());
    rows.push_back({grid.loads[load].Name(),
                    WithInterval(BootstrapMean(least, kBoundBootstrapSeed), 2, 3600.0),
                    Range(*lowest / 3600.0, *highest / 3600.0, 2)});
  }
  out.page.Rows({"load", "least mean JCT in expectation, h [95%]", "of single workloads"}, rows);
}

}  // namespace berth
