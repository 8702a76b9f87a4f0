// With and without each ingredient, at the same budget: of the gradient (gradient/), and of the search of
// weights, the recipes named ablation_search_*, each beside ablation_search_full.
#include <algorithm>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/gradient/gradient_ablations.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/reproduce/learned/recipes.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kPrefix = "ablation_search_";  // of their names; kPrefix + full is what they are beside
constexpr std::size_t kAblationsWorkloads = 5;

LoadGrid AblationsGrid(const LearnedSettings& settings) {
  LoadGrid grid;
  grid.loads = {kLoads[1], kLoads[4]};
  grid.seeds = settings.workloads;
  grid.drawn = settings.drawn;
  grid.seeds.resize(std::min(grid.seeds.size(), kAblationsWorkloads));
  return grid;
}

std::vector<const Recipe*> Ablations() {
  std::vector<const Recipe*> found;
  for (const Recipe& recipe : Recipes()) {
    if (std::string(recipe.name).starts_with(kPrefix)) found.push_back(&recipe);
  }
  return found;
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

void WriteSearches(const LoadGrid& grid, const LearnedSettings& settings, const ReproductionRuns& runs,
                   ReproductionPage& page) {
  const std::string prefix = kPrefix;
  const std::vector<const Recipe*> recipes = Ablations();
  const auto base = std::find_if(recipes.begin(), recipes.end(),
                                 [&](const Recipe* r) { return r->name == prefix + "full"; });
  BERTH_CHECK(base != recipes.end(), prefix);
  const std::vector<Grid> full = Grids(grid, runs, settings.policies.Specs((*base)->name));
  const Grid srpt = grid.MeanJcts(runs, "srpt");
  std::vector<Cells> rows;
  for (const Recipe* recipe : recipes) {
    const std::vector<Grid> policies = Grids(grid, runs, settings.policies.Specs(recipe->name));
    Cells row = {std::string(recipe->name).substr(prefix.size()), Difference(*recipe, **base),
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

}  // namespace

void PlanAblations(const LearnedSettings& settings, ReproductionRuns& runs) {
  const LoadGrid grid = AblationsGrid(settings);
  grid.Plan(runs, "srpt");
  for (const Recipe* recipe : Ablations()) {
    for (const std::string& spec : settings.policies.Specs(recipe->name)) grid.Plan(runs, spec);
  }
  PlanGradientAblations(settings, runs);
}

void ReportAblations(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  const LoadGrid grid = AblationsGrid(settings);
  out.page.Heading("With and without each ingredient");
  ReportGradientAblations(settings, runs, out);
  out.page.Paragraph(Join(
      "**The search of weights**: a network as it is initialised, then its linear part searched, as "
      "`hetero_oracle`, but 15 generations instead of 45: oracle knowledge, three training seeds, 5.6 "
      "single-GPU "
      "and 2.6 gang jobs an hour, ",
      grid.seeds.size(),
      " workloads; mean JCT in hours. Ratios are means over both loads; the first interval is over training "
      "seeds and workloads, the second over those of the row with the full recipe's mean."));
  WriteSearches(grid, settings, runs, out.page);
}

}  // namespace berth
