// Row 1: a heterogeneous GPU cluster at six loads, learned policies of oracle and of blind
// knowledge against every registered scheduler that knows no more.
#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/cluster_part.hpp"
#include "tools/reproduce/learned/two_ways.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr double kCurveRate = 5.6;  // single-GPU jobs/h of the distributions
constexpr int kCurvePoints = 200;   // of each distribution in the file behind the picture

LoadGrid ClusterGrid(const LearnedSettings& settings) {
  LoadGrid grid;
  grid.loads.assign(std::begin(kLoads), std::end(kLoads));
  if (settings.quick) grid.loads = {kLoads[1], kLoads[4]};
  grid.seeds = settings.workloads;
  grid.drawn = settings.drawn;
  grid.keep_jct_at = kCurveRate;
  return grid;
}

void WriteLearnedRows(const ClusterResult& result, const LearnedSettings& settings, const ClusterPart& part,
                      const LoadGrid& grid, const ReproductionRuns& runs, std::vector<Cells>& rows) {
  if (result.policies.empty()) return;
  const auto policies = settings.policies.Find(part.policy);
  Cells mean = {Join("**learned**, mean of ", policies.size()), part.name};
  for (std::size_t load = 0; load < grid.loads.size(); ++load)
    mean.push_back(WithInterval(LearnedMean(result.policies, load), 2, 3600.0));
  mean.insert(mean.end(), {"1", std::to_string(grid.seeds.size()), "", "", ""});
  rows.push_back(mean);
  for (std::size_t k = 0; k < policies.size(); ++k) {
    Cells row = {Join("learned, training seed ", policies[k].seed), part.name};
    double wait = 0.0, longest = 0.0, cpu = 0.0;
    for (std::size_t load = 0; load < grid.loads.size(); ++load) {
      const LoadResult at = ResultAt(grid, runs, load, result.specs[k]);
      row.push_back(at.Cell());
      wait += at.p99_wait_s, longest = std::max(longest, at.max_wait_s), cpu += at.cpu_s;
    }
    const auto n = static_cast<double>(grid.loads.size());
    row.insert(row.end(), {"", std::to_string(grid.seeds.size()), Fixed(wait / n / 3600.0, 1),
                           Fixed(longest / 3600.0, 0), Fixed(cpu / n, 1)});
    rows.push_back(row);
  }
}

void WriteTable(const ClusterResult& result, const LearnedSettings& settings, const ClusterPart& part,
                const LoadGrid& grid, const ReproductionRuns& runs, ReproductionPage& page) {
  Cells header = {"scheduler", "knows"};
  for (const Load& load : grid.loads) header.push_back(load.Name());
  header.insert(header.end(), {"learned / it, loads that both carry [95%]", "n", "p99 wait h", "max wait h",
                               "CPU s a run"});
  std::vector<Cells> rows;
  WriteLearnedRows(result, settings, part, grid, runs, rows);
  for (const ClusterRow& row : result.rows) {
    Cells cells = {Join("`", row.opponent.spec, "`"), ToString(row.opponent.knowledge)};
    double wait = 0.0, longest = 0.0, cpu = 0.0;
    int measured = 0, most = 0;
    for (const LoadResult& at : row.at) {
      cells.push_back(at.Cell());
      cpu += at.cpu_s / static_cast<double>(row.at.size());
      most = std::max(most, at.workloads);
      if (!at.why.empty()) continue;
      wait += at.p99_wait_s, longest = std::max(longest, at.max_wait_s), ++measured;
    }
    std::string ratio = WithInterval(row.carried.overall, 3);
    const bool compared = !result.policies.empty() && row.carried.workloads >= 2;
    if (compared && row.carried.overall.high < 1.0) ratio = Join("**", ratio, "**");
    if (compared && row.carried.conditions < static_cast<int>(grid.loads.size()))
      ratio += Join(" (", row.carried.conditions, " of ", grid.loads.size(), " loads)");
    cells.insert(cells.end(),
                 {compared ? ratio : "-", std::to_string(compared ? row.carried.workloads : most),
                  measured > 0 ? Fixed(wait / measured / 3600.0, 1) : "-",
                  measured > 0 ? Fixed(longest / 3600.0, 0) : "-", Fixed(cpu, 1)});
    rows.push_back(std::move(cells));
  }
  page.Rows(header, rows);
}

// The learned policies over those who matter most, load by load.
void WriteRatios(const ClusterResult& result, const std::vector<std::string>& specs, const LoadGrid& grid,
                 ReproductionPage& page) {
  if (result.policies.empty()) return;
  Cells header = {"learned / it [95%]"};
  for (const Load& load : grid.loads) header.push_back(load.Name());
  header.insert(header.end(), {"single", "gangs"});
  std::vector<Cells> rows;
  for (const std::string& spec : specs) {
    const ClusterRow* row = result.Find(spec);
    if (row == nullptr) continue;
    Cells cells = {Join("`", spec, "`")};
    for (const Interval& each : row->all.each) cells.push_back(WithInterval(each, 3));
    cells.insert(cells.end(), {WithInterval(row->singles.overall, 3), WithInterval(row->gangs.overall, 3)});
    rows.push_back(std::move(cells));
  }
  page.Rows(header, rows);
}

void AddPoints(const ClusterPart& part, const ClusterResult& result, const std::vector<std::string>& shown,
               const LoadGrid& grid, std::vector<Cells>& csv) {
  const auto add = [&](const std::string& name, std::size_t load, const Interval& jct) {
    if (std::isnan(jct.mean)) return;
    csv.push_back({part.name, name, grid.loads[load].gangs ? "gangs" : "single", Exact(grid.loads[load].rate),
                   Exact(jct.mean / 3600.0), Exact(jct.low / 3600.0), Exact(jct.high / 3600.0),
                   std::find(shown.begin(), shown.end(), name) != shown.end() ? "1" : "0"});
  };
  for (std::size_t load = 0; load < grid.loads.size(); ++load) {
    if (!result.policies.empty()) add("learned", load, LearnedMean(result.policies, load));
    for (const ClusterRow& row : result.rows) add(row.opponent.spec, load, row.at[load].jct_s);
  }
}

// Distribution of completion times at the middle load of single GPUs, all workloads and training seeds.
void AddCurve(const ClusterPart& part, const std::string& name, const std::vector<std::string>& specs,
              const LoadGrid& grid, const ReproductionRuns& runs, std::vector<Cells>& csv) {
  const Load load{kCurveRate, false};
  std::vector<double> hours;
  for (const std::string& spec : specs) {
    for (const std::uint64_t seed : grid.seeds) {
      const PlannedOutcome* run = runs.Find(grid.Workload(load, seed), spec);
      if (run == nullptr) continue;
      for (const double jct : run->jct_s) {
        if (!std::isnan(jct)) hours.push_back(jct / 3600.0);
      }
    }
  }
  if (hours.empty()) return;
  std::sort(hours.begin(), hours.end());
  for (int i = 0; i <= kCurvePoints; ++i) {
    const double q = static_cast<double>(i) / kCurvePoints;
    csv.push_back({part.name, name, Exact(q), Exact(Quantile(hours, q))});
  }
}

// Those that pictures and the table by load show: the classical ones, and the best.
std::vector<std::string> Shown(const ClusterPart& part, const ClusterResult& result) {
  std::vector<std::string> shown = {"learned", "fcfs", "las", "gavel", "gavel(aware=false)"};
  if (part.knowledge == Knowledge::kOracle) shown.insert(shown.end(), {"easy", "srpt", "tuned"});
  if (part.knowledge == Knowledge::kBlind) shown.emplace_back("tuned_blind");
  for (std::size_t i = 0; i < result.rows.size() && i < 2; ++i) {
    const std::string& best = result.rows[i].opponent.spec;
    if (std::find(shown.begin(), shown.end(), best) == shown.end()) shown.push_back(best);
  }
  return shown;
}

}  // namespace

void PlanCluster(const LearnedSettings& settings, ReproductionRuns& runs) {
  const LoadGrid grid = ClusterGrid(settings);
  for (const Opponent& opponent : RegisteredOpponents(grid.Sample()).run)
    grid.Plan(runs, opponent.spec, AffordableWorkloads(opponent.spec, grid.seeds.size()));
  for (const ClusterPart& part : kClusterParts) {
    for (const std::string& spec : settings.policies.SpecsBothWays(part.policy)) grid.Plan(runs, spec);
  }
}

void ReportCluster(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  const LoadGrid grid = ClusterGrid(settings);
  const Opponents opponents = RegisteredOpponents(grid.Sample());
  ReproductionPage& page = out.page;
  page.Heading("A heterogeneous cluster: 36 V100, 36 P100, 36 K80");
  page.Paragraph(
      Join("Mean JCT in hours of jobs ", grid.begin, " to ", grid.end, " of ", grid.drawn,
           " of the shipped generator, ", grid.seeds.size(),
           " workloads of the evaluation stream that training cannot draw, clock `rounds(360)`, "
           "preemptive. `learned / it` is the mean, over the loads that the cluster carries under both, of "
           "the ratio of "
           "means; brackets "
           "are 95% hierarchical bootstrap intervals over training seeds and workloads, paired; bold "
           "where the interval is below 1. Columns `single` and `gangs` of the tables by load, and the "
           "targets of row 1, count all their loads, carried or not. n: workloads that count, fewer where a "
           "run takes seconds. ",
           LoadMarks()));
  std::vector<Cells> points, curves;
  for (const ClusterPart& part : kClusterParts) {
    const ClusterResult result = MeasurePart(part, settings, grid, opponents, runs);
    page.Paragraph(Join("**Knowledge ", part.name, "**: `", part.policy,
                        "` against every registered scheduler that knows no more"));
    if (const std::string missing = settings.policies.Missing(part.policy); !missing.empty())
      page.Paragraph(Join("Not available: ", missing, "."));
    WriteTable(result, settings, part, grid, runs, page);
    const std::vector<std::string> shown = Shown(part, result);
    WriteRatios(result, shown, grid, page);
    AddClusterTargets(part, result, grid, runs, out.targets);
    if (!result.rows.empty()) {
      const std::string& best = result.rows.front().opponent.spec;
      AddTwoWays({Join("1, ", part.name), result.policies,
                  Grids(grid, runs, settings.policies.Specs(ByGradient(part.policy))), best,
                  grid.MeanJcts(runs, best)},
                 out);
    }
    AddPoints(part, result, shown, grid, points);
    AddCurve(part, "learned", result.specs, grid, runs, curves);
    for (const std::string& name : shown) AddCurve(part, name, {name}, grid, runs, curves);
  }
  std::string refused;
  for (const auto& [name, why] : opponents.refused)
    refused += Join(refused.empty() ? "" : "; ", "`", name, "`: ", why);
  if (!refused.empty()) page.Paragraph("Registered, and not for this cluster: " + refused + ".");
  page.Csv("cluster.csv", {"knowledge", "scheduler", "gangs", "rate", "jct_h", "low", "high", "shown"},
           points);
  page.Csv("cluster_cdf.csv", {"knowledge", "scheduler", "fraction", "jct_h"}, curves);
  page.Picture("cluster.png", "mean JCT of learned policies and of schedulers at six loads, 95% intervals");
  page.Picture("cluster_cdf.png", "distribution of job completion times at 5.6 single-GPU jobs an hour");
}

}  // namespace berth
