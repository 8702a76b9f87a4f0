#include "tools/reproduce/learned/gradient/gradient_ablations.hpp"

#include "env/base/check.hpp"
#include "tools/reproduce/learned/gradient/gradient_shelf.hpp"
#include "tools/reproduce/learned/gradient/gradient_task.hpp"
#include "tools/reproduce/learned/gradient/seed_figures.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kFull = "ablation_defaults";
constexpr const char* kBaseline = "srpt";

std::string OptionsOf(const TrainingSet& set) {
  std::string text;
  for (const auto& [name, value] : set.options)
    text += Join(text.empty() ? "" : " ", "--", name, " '", value, "'");
  return text.empty() ? "-" : Join("`", text, "`");
}

std::vector<const TrainingSet*> Sets() {
  std::vector<const TrainingSet*> sets;
  for (const TrainingSet& set : TrainingSets()) {
    if (std::string(set.experiment) == "ablations") sets.push_back(&set);
  }
  return sets;
}

}  // namespace

void PlanGradientAblations(const LearnedSettings& settings, ReproductionRuns& runs) {
  const GradientTask task(MeasuredOn::kGangs, settings);
  const GradientShelf shelf(settings.gradient);
  task.Plan(runs, kBaseline);
  for (const TrainingSet* set : Sets()) {
    for (const std::string& spec : shelf.Specs(*set, set->steps[0])) task.Plan(runs, spec);
  }
}

void ReportGradientAblations(const LearnedSettings& settings, const ReproductionRuns& runs,
                             LearnedPage& out) {
  const GradientTask task(MeasuredOn::kGangs, settings);
  const GradientShelf shelf(settings.gradient);
  const std::int64_t steps = SetNamed(kFull).steps[0];
  const Grid srpt = task.MeanJcts(runs, kBaseline);
  const std::vector<Grid> full = task.MeanJcts(runs, shelf.Specs(SetNamed(kFull), steps));
  std::vector<Cells> rows;
  for (const TrainingSet* set : Sets()) {
    const std::vector<TrainedPolicy> policies = shelf.Find(*set, steps);
    const std::vector<Grid> grids = task.MeanJcts(runs, shelf.Specs(*set, steps));
    std::vector<int> seeds;
    for (const TrainedPolicy& policy : policies) seeds.push_back(policy.seed);
    const auto figures = FiguresOf(std::move(seeds), grids, {}, srpt);
    const std::string missing = shelf.Missing(*set, steps);
    Cells row = {set->what, OptionsOf(*set), std::to_string(policies.size())};
    if (!figures) {
      row.insert(row.end(), {"-", "-", "-", "-", settings.no_learners.empty() ? missing : "not measured"});
    } else {
      row.insert(
          row.end(),
          {WithInterval(figures->mean, 3), Fixed(figures->Worst(), 3),
           task.NotCarried(runs, shelf.Specs(*set, steps)),
           full.empty() ? "-" : WithInterval(Compare(grids, MeanGrid(full), kBootstrapSeed).overall, 3),
           figures->Each() + (missing.empty() ? "" : Join(" (", missing, ")"))});
    }
    rows.push_back(std::move(row));
  }
  const std::int64_t trained = settings.gradient.quick ? steps / kQuickShare : steps;
  out.page.Paragraph(
      Join("**By gradient: `berth train` on its default workload, ", StepsText(trained),
           " steps, the last policy of every seed.** Mean JCT over that of `", kBaseline,
           "`, greedy, jobs 300 to 700 of the test workloads; the first interval is over training seeds and "
           "workloads, the "
           "second over those of the row with the mean of the defaults' seeds.",
           shelf.SourcesText("ablations"),
           settings.no_learners.empty() ? "" : Join(" Not trained: ", settings.no_learners, ".")));
  out.page.Rows({"what is different", "option", "seeds", "over `srpt` [95%]", "worst",
                 "seeds under which the cluster does not keep up", "over the defaults [95%]", "each seed"},
                rows);
}

}  // namespace berth
