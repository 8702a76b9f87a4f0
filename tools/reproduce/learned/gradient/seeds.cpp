// Policies by gradient alone, every training seed of them: `berth train` as it comes on the two default
// workloads and with --recipe many_clusters on row 1, at several numbers of steps.
#include <algorithm>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/gradient/seed_results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

void WriteTable(SeedResults& results, ReproductionPage& page) {
  std::vector<Cells> rows, csv;
  for (const SeedRow& row : kSeedRows) {
    const TrainingSet& set = SetNamed(row.set);
    for (const std::int64_t steps : set.steps) {
      const std::int64_t trained = results.settings().quick ? steps / kQuickShare : steps;
      Cells cells = {set.what, StepsText(trained), Join("`", results.Baseline(row.set), "`")};
      const auto figures = results.Figures(row.set, steps);
      const std::string missing = results.shelf().Missing(set, steps);
      if (!figures) {
        cells.insert(cells.end(), {"0", "-", "-", "-", "-", "-", "-", results.WhyNone(row.set, steps)});
        rows.push_back(std::move(cells));
        continue;
      }
      cells.insert(cells.end(),
                   {std::to_string(figures->seeds.size()), WithInterval(figures->mean, 3),
                    Join(Fixed(figures->Best(), 3), ", ", Fixed(figures->Worst(), 3)),
                    Fixed(figures->Worst() / figures->Best(), 3), figures->SampledText(),
                    results.Task(set.on).NotCarried(results.runs(), results.shelf().Specs(set, steps)),
                    Fixed(results.shelf().MeanCpuSeconds(set, steps), 0),
                    figures->Each() + (missing.empty() ? "" : Join(" (", missing, ")"))});
      rows.push_back(std::move(cells));
      for (std::size_t i = 0; i < figures->seeds.size(); ++i)
        csv.push_back({row.set, std::to_string(trained), std::to_string(figures->seeds[i]),
                       results.Baseline(row.set), Exact(figures->ratios[i]),
                       figures->sampled.empty() ? "" : Exact(figures->sampled[i])});
    }
  }
  page.Rows({"trained on", "steps", "over", "seeds", "mean [95%]", "best, worst", "worst / best",
             "drawing / greedy: mean, farthest", "seeds under which the cluster does not keep up",
             "CPU s each", "each seed"},
            rows);
  page.Csv("seeds.csv", {"set", "steps", "seed", "baseline", "ratio", "sampled_over_greedy"}, csv);
}

// Row 1 load by load, the searched policies beside: where long training loses.
void WriteLoads(SeedResults& results, ReproductionPage& page) {
  constexpr std::uint64_t kBootstrapSeed = 8;
  const GradientTask& task = results.Task(MeasuredOn::kSixLoads);
  std::vector<Cells> rows;
  const auto add = [&](const std::string& what, const std::string& steps, const std::string& set,
                       const std::vector<Grid>& policies) {
    if (policies.empty() || results.Baseline(set).empty()) return;
    const Comparison over =
        Compare(policies, task.MeanJcts(results.runs(), results.Baseline(set)), kBootstrapSeed);
    Cells cells = {what, steps, Join("`", results.Baseline(set), "`")};
    for (const Interval& load : over.each) cells.push_back(WithInterval(load, 3));
    rows.push_back(std::move(cells));
  };
  for (const SeedRow& row : kSeedRows) {
    const TrainingSet& set = SetNamed(row.set);
    if (set.on != MeasuredOn::kSixLoads) continue;
    for (const std::int64_t steps : set.steps)
      add(set.what, StepsText(results.settings().quick ? steps / kQuickShare : steps), row.set,
          results.Policies(row.set, steps));
  }
  add("searched, `hetero_oracle`", "-", "oracle",
      task.MeanJcts(results.runs(), results.settings().policies.Specs(kSearchedPolicies)));
  if (rows.empty()) return;
  page.Paragraph("Row 1 load by load, means over training seeds:");
  std::vector<std::string> header = {"trained on", "steps", "over"};
  for (const Load& load : task.loads().loads) header.push_back(load.Name());
  page.Rows(header, rows);
}

std::string Trained() {
  std::string text;
  for (const SeedRow& row : kSeedRows) {
    const TrainingSet& set = SetNamed(row.set);
    std::string command = "berth train";
    for (const auto& [name, value] : set.options) command += Join(" --", name, " '", value, "'");
    text += Join(text.empty() ? "" : "; ", set.what, ": `", command, "`");
  }
  return text;
}

std::string Rules(const SeedResults& results) {
  std::string text;
  for (const char* set : {"singles", "gangs", "blind"}) {
    const auto best = results.Best(set);
    if (!best) continue;
    text += Join(text.empty() ? "" : "; ", SetNamed(set).what, ": `", best->spec, "`, of ", best->compared);
  }
  return text.empty() ? "" : Join(" The best rule of those that ran and left no job undone: ", text, ".");
}

}  // namespace

void PlanSeeds(const LearnedSettings& settings, ReproductionRuns& runs) {
  const GradientShelf shelf(settings.gradient);
  for (const MeasuredOn on : {MeasuredOn::kSingles, MeasuredOn::kGangs, MeasuredOn::kSixLoads}) {
    const GradientTask task(on, settings);
    task.PlanRules(runs);
    for (const SeedRow& row : kSeedRows) {
      const TrainingSet& set = SetNamed(row.set);
      if (set.on != on) continue;
      for (const std::int64_t steps : set.steps) {
        for (const std::string& spec : shelf.Specs(set, steps)) task.Plan(runs, spec);
        if (!set.Draws()) continue;
        for (const std::string& spec : shelf.Specs(set, steps, /*sample=*/true))
          task.Plan(runs, spec, task.sampled_workloads());
      }
    }
    if (on == MeasuredOn::kSixLoads) {
      for (const std::string& spec : settings.policies.Specs(kSearchedPolicies)) task.Plan(runs, spec);
    }
  }
}

void ReportSeeds(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  SeedResults results(settings, runs);
  const LoadGrid& loads = results.Task(MeasuredOn::kSixLoads).loads();
  out.page.Heading("By gradient, every seed");
  out.page.Paragraph(Join(
      "The last policy of every training seed, none chosen, each number of steps a training of its own. ",
      Trained(),
      "; each with `--steps N --seed S`. Mean JCT over that of the rule in the third column, greedy unless "
      "stated, "
      "on workloads that training cannot draw: jobs 300 to 700 of 1,000 on 36 GPUs, and row 1's ",
      loads.loads.size(), " loads (all in every number, carried or not; ", loads.seeds.size(),
      " workloads, drawing on ", results.Task(MeasuredOn::kSixLoads).sampled_workloads(),
      "). Intervals are over training seeds and workloads.", Rules(results),
      results.shelf().SourcesText("seeds"),
      settings.quick ? Join(" `--quick`: trained for 1/", kQuickShare, " of the steps that targets name.")
                     : "",
      settings.no_learners.empty() ? "" : Join(" Not trained: ", settings.no_learners, ".")));
  WriteTable(results, out.page);
  WriteLoads(results, out.page);
  AddSeedTargets(results, out.targets);
}

}  // namespace berth
