// Mean JCT by priority: a fifth of the jobs have weight 5 (Narayanan et al., OSDI 2020, §7.3; values printed
// in the artefact's continuous_jobs_priorities_multigpu.ipynb, seed 1).
#include <cmath>

#include "tools/reproduce/gavel_experiments.hpp"
#include "tools/reproduce/gavel_workloads.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

struct PriorityRow {
  double rate;
  double las_low, las_high, gavel_low, gavel_high;  // published, h
};
constexpr PriorityRow kPriorityRows[] = {{0.2, 24.4, 27.9, 17.6, 20.1},
                                         {1.0, 24.7, 28.3, 17.4, 19.8},
                                         {2.0, 25.5, 28.6, 18.0, 18.9},
                                         {2.4, 54.4, 28.5, 20.2, 18.6},
                                         {2.6, 129.1, 28.5, NAN, NAN}};

struct Column {
  const char* label;
  const char* spec;
  double PriorityRow::*published;
  OutcomeFigure figure;
};
// The notebook's LAS and Gavel are not the max_min_fairness of the other figures: its table of labels has
// {"max_min_fairness_water_filling": "LAS", "max_min_fairness_water_filling_perf": "Gavel"}. With weights
// that matters: one job of weight 5 at its full speed holds the least level, and what max_min gives the
// others beyond a fifth of it is the solver's choice, while water filling raises them in turn.
constexpr const char* kLas = "gavel(objective=water_filling,aware=false)";
constexpr const char* kGavel = "gavel(objective=water_filling)";
constexpr double kCostAnHour = 15.0;  // of a run beside one of max_min, times jobs/h: an LP a level
constexpr Column kPriorityColumns[] = {
    {"LAS low", kLas, &PriorityRow::las_low, &PlannedOutcome::mean_jct_low_s},
    {"LAS high", kLas, &PriorityRow::las_high, &PlannedOutcome::mean_jct_high_s},
    {"Gavel low", kGavel, &PriorityRow::gavel_low, &PlannedOutcome::mean_jct_low_s},
    {"Gavel high", kGavel, &PriorityRow::gavel_high, &PlannedOutcome::mean_jct_high_s}};

bool SkipRow(const GavelSettings& settings, const PriorityRow& row) {
  return settings.quick && row.rate != 2.4;
}

std::vector<PlannedWorkload> PriorityWorkloads(const GavelSettings& settings, double rate) {
  std::vector<PlannedWorkload> workloads;
  for (const std::uint64_t seed : settings.seeds) {
    workloads.push_back(ContinuousWorkload(rate, Gangs::kMulti, /*priorities=*/true, seed));
  }
  return workloads;
}

}  // namespace

void PlanPriorities(const GavelSettings& settings, ReproductionRuns& runs) {
  for (const PriorityRow& row : kPriorityRows) {
    if (SkipRow(settings, row)) continue;
    for (const PlannedWorkload& workload : PriorityWorkloads(settings, row.rate)) {
      for (const char* spec : {kLas, kGavel}) runs.Plan(workload, spec, kCostAnHour * row.rate);
    }
  }
}

bool ReportPriorities(const GavelSettings& settings, const ReproductionRuns& runs, ReproductionPage& page) {
  page.Heading("Priorities");
  page.Paragraph(
      "Mean JCT in hours of jobs of weight 1 (low) and 5 (high), multi GPU, jobs 4000 to 5000. LAS and Gavel "
      "are "
      "here water filling without and with throughputs, as in the notebook. Each cell: published (one seed, "
      "printed there) | measured, mean [lowest, highest] of our seeds.");
  ReproductionPage::Cells header = {"jobs/h"};
  for (const Column& column : kPriorityColumns) header.emplace_back(column.label);
  std::vector<ReproductionPage::Cells> rows, csv;
  for (const PriorityRow& row : kPriorityRows) {
    if (SkipRow(settings, row)) continue;
    ReproductionPage::Cells cells = {Fixed(row.rate, 1)};
    for (const Column& column : kPriorityColumns) {
      const SeedValues hours =
          OverSeeds(runs, PriorityWorkloads(settings, row.rate), column.spec, column.figure, 3600.0);
      cells.push_back(Join(Fixed(row.*column.published, 1), " \\| ", hours.ToString(1)));
      csv.push_back({column.label, Exact(row.rate), Exact(row.*column.published), "published"});
      for (const double value : hours.values)
        csv.push_back({column.label, Exact(row.rate), Exact(value), "measured"});
    }
    rows.push_back(cells);
  }
  page.Rows(header, rows);
  page.Csv("priorities.csv", {"jobs", "rate", "jct_h", "source"}, csv);
  page.Picture("priorities.png", "mean JCT by priority against load, published and measured");
  return true;
}

}  // namespace berth
