// Row 1 by how many jobs go on arriving behind the measured ones. A scheduler that lets the longest jobs wait
// while shorter ones keep coming ends them when arrivals end: the fewer arrivals, the better it looks.
#include <algorithm>
#include <iterator>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr int kDrawn[] = {4400, 8000, 12000};
constexpr std::size_t kHorizonWorkloads = 5;
constexpr const char* kHorizonOpponents[] = {"srpt",  "tuned", "matching",   "nash_welfare",
                                             "gavel", "las",   "tuned_blind"};
constexpr const char* kPolicies[] = {"hetero_oracle", "hetero_blind"};

LoadGrid HorizonGrid(const LearnedSettings& settings, int drawn) {
  LoadGrid grid;
  grid.loads = {kLoads[1], kLoads[4]};
  grid.seeds = settings.workloads;
  grid.seeds.resize(std::min(grid.seeds.size(), kHorizonWorkloads));
  grid.drawn = drawn;
  grid.keep_jct_at = kLoads[1].rate;  // as the experiment cluster keeps them
  return grid;
}

}  // namespace

void PlanHorizon(const LearnedSettings& settings, ReproductionRuns& runs) {
  for (const int drawn : kDrawn) {
    const LoadGrid grid = HorizonGrid(settings, drawn);
    for (const char* spec : kHorizonOpponents) grid.Plan(runs, spec);
    for (const char* name : kPolicies) {
      for (const std::string& spec : settings.policies.Specs(name)) grid.Plan(runs, spec);
    }
  }
}

void ReportHorizon(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  ReproductionPage& page = out.page;
  page.Heading("How long arrivals go on");
  page.Paragraph(Join(
      "Mean JCT in hours of the same jobs, 3000 to 4000, when 4,400, 8,000 or 12,000 jobs are drawn; ",
      HorizonGrid(settings, kDrawn[0]).seeds.size(),
      " workloads. A run ends when the measured jobs are done: whoever starves the longest of them ends them "
      "only when arrivals stop, and a mean that grows with the jobs drawn says so. ",
      LoadMarks()));
  Cells header = {"scheduler"};
  for (const Load& load : HorizonGrid(settings, kDrawn[0]).loads) {
    for (const int drawn : kDrawn) header.push_back(Join(load.Name(), ", ", drawn, " drawn"));
  }
  std::vector<Cells> rows;
  const auto add = [&](const std::string& name, const std::string& spec) {
    Cells row = {name};
    for (std::size_t load = 0; load < 2; ++load) {
      for (const int drawn : kDrawn)
        row.push_back(ResultAt(HorizonGrid(settings, drawn), runs, load, spec).Cell());
    }
    rows.push_back(std::move(row));
  };
  for (const char* name : kPolicies) {
    const std::vector<std::string> specs = settings.policies.Specs(name);
    Cells row = {Join("**learned**, `", name, "`, ", specs.size(), " seeds")};
    for (std::size_t load = 0; load < 2; ++load) {
      for (const int drawn : kDrawn) {
        row.push_back(specs.empty()
                          ? "not available"
                          : WithInterval(LearnedMean(Grids(HorizonGrid(settings, drawn), runs, specs), load),
                                         2, 3600.0));
      }
    }
    rows.push_back(std::move(row));
    for (const TrainedPolicy& policy : settings.policies.Find(name))
      add(Join("`", name, "`, seed ", policy.seed), policy.Spec());
  }
  for (const char* spec : kHorizonOpponents) add(Join("`", spec, "`"), spec);
  page.Rows(header, rows);
}

}  // namespace berth
