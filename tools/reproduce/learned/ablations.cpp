// With and without each ingredient, at the same budget: the recipes named ablation_METHOD_*, each beside the
// method's ablation_METHOD_full; and the gradient's own, by default options (gradient/).
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

struct Method {
  const char* prefix;  // of its recipes' names; PREFIXfull is what the others are beside
  const char* budget;
};
constexpr Method kMethods[] = {
    {"ablation_ppo_", "PPO alone, as `learner_ppo`: 500,000 environment steps"},
    {"ablation_search_",
     "a network as it is initialised, then its linear part searched, as `hetero_oracle`, "
     "but 15 generations instead of 45"}};
constexpr std::size_t kWorkloads = 5;

LoadGrid GridOf(const LearnedSettings& settings) {
  LoadGrid grid;
  grid.loads = {kLoads[1], kLoads[4]};
  grid.seeds = settings.workloads;
  grid.drawn = settings.drawn;
  grid.seeds.resize(std::min(grid.seeds.size(), kWorkloads));
  return grid;
}

std::vector<const Recipe*> Ablations(const std::string& prefix) {
  std::vector<const Recipe*> found;
  for (const Recipe& recipe : Recipes()) {
    if (std::string(recipe.name).starts_with(prefix)) found.push_back(&recipe);
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

void WriteMethod(const Method& method, const LoadGrid& grid, const LearnedSettings& settings,
                 const ReproductionRuns& runs, ReproductionPage& page) {
  const std::string prefix = method.prefix;
  const std::vector<const Recipe*> recipes = Ablations(prefix);
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
  page.Paragraph(Join("**", method.budget, "**"));
  page.Rows({"recipe", "what it sets differently", "seeds", grid.loads[0].Name(), grid.loads[1].Name(),
             "over `srpt` [95%]", "over full [95%]"},
            rows);
}

}  // namespace

void PlanAblations(const LearnedSettings& settings, ReproductionRuns& runs) {
  const LoadGrid grid = GridOf(settings);
  grid.Plan(runs, "srpt");
  for (const Method& method : kMethods) {
    for (const Recipe* recipe : Ablations(method.prefix)) {
      for (const std::string& spec : settings.policies.Specs(recipe->name)) grid.Plan(runs, spec);
    }
  }
  PlanGradientAblations(settings, runs);
}

void ReportAblations(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  const LoadGrid grid = GridOf(settings);
  out.page.Heading("With and without each ingredient");
  ReportGradientAblations(settings, runs, out);
  out.page.Paragraph(
      Join("Row 1's recipes before the learning signal, and the search of weights: oracle knowledge, three "
           "training seeds, 5.6 single-GPU and 2.6 gang jobs an hour, ",
           grid.seeds.size(),
           " workloads; mean JCT in hours. Ratios are means over both loads; the first interval is over "
           "training seeds and workloads, the second over those of the row with the full recipe's mean."));
  for (const Method& method : kMethods) WriteMethod(method, grid, settings, runs, out.page);
}

}  // namespace berth
