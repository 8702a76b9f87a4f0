#include "tools/reproduce/learned/load_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tools/reproduce/learned/opponents.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr double kMaxMinSeconds = 6.5;  // of a run as long under what Plan counts as 1 a job

std::string Plain(double value) {  // 4.8, not 4.7999999999999998; 56, not 56.0
  std::string text = Fixed(value, 1);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace

std::string Load::Name() const {
  return Join(Plain(rate), gangs ? " gangs/h" : " single/h");
}

PlannedWorkload LoadGrid::Workload(const Load& load, std::uint64_t seed) const {
  const std::string spec = Join("synthetic(rate=", Plain(load.rate * scale), ",jobs=", drawn * scale,
                                load.gangs ? ",gangs=multi)" : ")");
  const std::string cluster = Join("v100=", 36 * scale, ",p100=", 36 * scale, ",k80=", 36 * scale);
  const auto make = [spec, cluster, seed] {
    ScenarioSettings settings;
    settings.cluster = ParseCluster(cluster);
    settings.clock = {ClockKind::kRounds, 360.0};
    return EvaluationScenario(*MakeWorkload(spec, settings), seed);
  };
  return {Join(spec, " on ", cluster, " seed ", seed),
          {begin * scale, end * scale},
          make,
          !load.gangs && load.rate == keep_jct_at};
}

Scenario LoadGrid::Sample() const {
  return Workload(loads[0], seeds[0]).make();
}

void LoadGrid::Plan(ReproductionRuns& runs, const std::string& spec, std::size_t most) const {
  // A job costs about the same at any scale: decisions weigh ten times the jobs, and ten times as many end.
  const double cost = RunSeconds(spec) / kMaxMinSeconds;
  for (const Load& load : loads) {
    for (std::size_t w = 0; w < std::min(most, seeds.size()); ++w)
      runs.Plan(Workload(load, seeds[w]), spec, cost);
  }
}

double WholeMeanJct(const ReproductionRuns& runs, const PlannedWorkload& workload, const std::string& spec) {
  const PlannedOutcome* run = runs.FindWhole(workload, spec);
  return run != nullptr ? run->mean_jct_s : kNoResult;
}

Grid LoadGrid::MeanJcts(const ReproductionRuns& runs, const std::string& spec) const {
  Grid grid;
  for (const Load& load : loads) {
    std::vector<double> row;
    for (const std::uint64_t seed : seeds) row.push_back(WholeMeanJct(runs, Workload(load, seed), spec));
    grid.push_back(std::move(row));
  }
  return grid;
}

std::string LoadResult::Cell() const {
  if (!why.empty()) return why;
  return Join(Fixed(jct_s.mean / 3600.0, 2), unstable ? "†" : "", ran_out ? "*" : "");
}

const char* LoadMarks() {
  return "†: the cluster does not keep up; late work (what is left, less what a cluster without end would "
         "have left) grew over the second half of the measured jobs by more than 5% of the work that "
         "arrived, with a 95% interval over workloads above 0, so the mean depends on which jobs are "
         "measured. Means over training seeds count every seed and carry no mark. `*`: a run outlived the "
         "last arrival, so that its end was less crowded, which flatters it.";
}

LoadResult ResultAt(const LoadGrid& grid, const ReproductionRuns& runs, std::size_t load,
                    const std::string& spec) {
  LoadResult result;
  result.jct_s = {kNoResult, kNoResult, kNoResult};
  std::vector<double> means;
  std::vector<double> growth;
  double jobs = 0.0, undone = 0.0;
  int done = 0, stopped = 0;
  std::string error;
  double limit = 0.0;
  for (const std::uint64_t seed : grid.seeds) {
    const PlannedOutcome* run = runs.Find(grid.Workload(grid.loads[load], seed), spec);
    if (run == nullptr) continue;
    ++done;
    if (!run->error.empty()) error = run->error;
    result.cpu_s += run->cpu_s;
    if (run->stopped) ++stopped, limit = std::max(limit, run->cpu_s);
    if (run->stopped || !run->error.empty()) continue;
    jobs += run->jobs + run->unfinished, undone += run->unfinished;
    if (run->unfinished == 0) means.push_back(run->mean_jct_s);
    growth.push_back(run->backlog_growth);
    result.ran_out = result.ran_out || run->arrivals_ran_out;
    result.p99_wait_s += run->p99_wait_s;
    result.max_wait_s = std::max(result.max_wait_s, run->max_wait_s);
  }
  result.workloads = static_cast<int>(means.size());
  if (done > 0) result.cpu_s /= done;
  if (done == 0) {
    result.why = "not run";
  } else if (!error.empty()) {
    result.why = "failed: " + error;
  } else if (stopped > 0) {
    result.why = Join("> ", Fixed(limit, limit < 10.0 ? 1 : 0), " CPU s");
  } else if (undone > 0.0) {
    result.why = Join(Fixed(100.0 * undone / jobs, 1), "% undone");
  }
  if (!result.why.empty()) return result;
  result.p99_wait_s /= result.workloads;
  result.unstable = !KeepsUp(growth);
  result.jct_s = BootstrapMean(means, kBootstrapSeed);
  return result;
}

Interval LearnedMean(const std::vector<Grid>& policies, std::size_t load) {
  std::vector<std::vector<double>> values;
  for (const Grid& policy : policies) values.push_back(policy[load]);
  return HierarchicalMean(values, kBootstrapSeed);
}

std::vector<Grid> Grids(const LoadGrid& grid, const ReproductionRuns& runs,
                        const std::vector<std::string>& specs) {
  std::vector<Grid> grids;
  for (const std::string& spec : specs) grids.push_back(grid.MeanJcts(runs, spec));
  return grids;
}

std::vector<std::size_t> CarriedLoads(const LoadGrid& grid, const ReproductionRuns& runs,
                                      const std::vector<std::string>& specs, std::vector<std::size_t> loads) {
  std::erase_if(loads, [&](std::size_t load) {
    return std::any_of(specs.begin(), specs.end(),
                       [&](const std::string& spec) { return ResultAt(grid, runs, load, spec).unstable; });
  });
  return loads;
}

Comparison CompareAt(const std::vector<Grid>& policies, const Grid& other,
                     const std::vector<std::size_t>& loads) {
  if (loads.empty()) return {{kNoResult, kNoResult, kNoResult}, {}, 0, 0};
  const auto part = [&](const Grid& grid) {
    Grid chosen;
    for (const std::size_t load : loads) chosen.push_back(grid[load]);
    return chosen;
  };
  std::vector<Grid> parts;
  for (const Grid& policy : policies) parts.push_back(part(policy));
  return Compare(parts, part(other), kBootstrapSeed);
}

}  // namespace berth
