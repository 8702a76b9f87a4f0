// With and without each ingredient of the recipe, at the same budget: the recipes named ablation_*.
#include <algorithm>

#include "env/check.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/reproduce/learned/recipes.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kFull = "ablation_full";
constexpr std::size_t kWorkloads = 5;

LoadGrid GridOf(const LearnedSettings& settings) {
  LoadGrid grid;
  grid.loads = {kLoads[1], kLoads[4]};
  grid.seeds = settings.workloads;
  grid.drawn = settings.drawn;
  grid.seeds.resize(std::min(grid.seeds.size(), kWorkloads));
  return grid;
}

std::vector<const Recipe*> Ablations() {
  std::vector<const Recipe*> found;
  for (const Recipe& recipe : Recipes()) {
    if (std::string(recipe.experiment) == "ablations") found.push_back(&recipe);
  }
  return found;
}

// Mean over training seeds, so that two recipes are compared as one row each.
Grid MeanGrid(const std::vector<Grid>& policies) {
  Grid mean = policies[0];
  for (std::size_t c = 0; c < mean.size(); ++c) {
    for (std::size_t w = 0; w < mean[c].size(); ++w) {
      double sum = 0.0;
      for (const Grid& policy : policies) sum += policy[c][w];
      mean[c][w] = sum / static_cast<double>(policies.size());
    }
  }
  return mean;
}

// What a recipe sets differently from the full one.
std::string Difference(const RecipeOptions& options, const RecipeOptions& full) {
  std::string text;
  for (const auto& [name, value] : options) {
    const bool same = std::any_of(full.begin(), full.end(),
                                  [&](const auto& o) { return o.first == name && o.second == value; });
    if (!same) text += Join(text.empty() ? "" : ", ", name, " ", value);
  }
  for (const auto& [name, value] : full) {
    const bool there =
        std::any_of(options.begin(), options.end(), [&](const auto& o) { return o.first == name; });
    if (!there) text += Join(text.empty() ? "" : ", ", "without ", name, " ", value);
  }
  return text;
}
std::string Difference(const Recipe& recipe, const Recipe& full) {
  std::string text;
  for (std::size_t i = 0; i < std::max(recipe.steps.size(), full.steps.size()); ++i) {
    std::string step;
    if (i >= recipe.steps.size()) {
      step = Join("no ", ToString(full.steps[i].verb));
    } else if (i >= full.steps.size()) {
      step = Join(ToString(recipe.steps[i].verb), " too");
    } else {
      step = Difference(recipe.steps[i].options, full.steps[i].options);
    }
    if (!step.empty()) text += Join(text.empty() ? "" : "; ", step);
  }
  return text.empty() ? "-" : Join("`", text, "`");
}

}  // namespace

void PlanAblations(const LearnedSettings& settings, ReproductionRuns& runs) {
  const LoadGrid grid = GridOf(settings);
  grid.Plan(runs, "srpt");
  for (const Recipe* recipe : Ablations()) {
    for (const std::string& spec : settings.policies.Specs(recipe->name)) grid.Plan(runs, spec);
  }
}

void ReportAblations(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  const LoadGrid grid = GridOf(settings);
  ReproductionPage& page = out.page;
  page.Heading("With and without each ingredient");
  page.Paragraph(
      Join("Equal environment steps, three training seeds, 5.6 single-GPU and 2.6 gang jobs an hour, ",
           grid.seeds.size(),
           " workloads; mean JCT in hours. Ratios are means over both loads; the first interval is over "
           "training seeds and workloads, the second over those of the row with the full recipe's mean."));
  const std::vector<Grid> full = Grids(grid, runs, settings.policies.Specs(kFull));
  const Recipe* base = nullptr;
  for (const Recipe* recipe : Ablations()) {
    if (std::string(recipe->name) == kFull) base = recipe;
  }
  BERTH_CHECK(base != nullptr, kFull);
  const Grid srpt = grid.MeanJcts(runs, "srpt");
  std::vector<Cells> rows;
  for (const Recipe* recipe : Ablations()) {
    const std::vector<Grid> policies = Grids(grid, runs, settings.policies.Specs(recipe->name));
    Cells row = {std::string(recipe->name).substr(9), Difference(*recipe, *base),
                 std::to_string(policies.size())};
    if (policies.empty()) {
      row.insert(row.end(), {"not available", "", "", ""});
    } else {
      for (std::size_t load = 0; load < grid.loads.size(); ++load)
        row.push_back(Fixed(LearnedMean(policies, load).mean / 3600.0, 2));
      row.push_back(WithInterval(CompareAt(policies, srpt, {0, 1}).overall, 3));
      row.push_back(full.empty() ? "-"
                                 : WithInterval(CompareAt(policies, MeanGrid(full), {0, 1}).overall, 3));
    }
    rows.push_back(std::move(row));
  }
  page.Rows({"recipe", "what it sets differently", "seeds", grid.loads[0].Name(), grid.loads[1].Name(),
             "over `srpt` [95%]", "over full [95%]"},
            rows);
}

}  // namespace berth
