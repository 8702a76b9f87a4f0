#include "tools/train_recipes.hpp"

#include <span>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

struct Recipe {
  const char* name;
  const char* summary;
  std::vector<std::pair<const char*, const char*>> options;
};

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> kAll = {
      {"default", "the options' own defaults", {}},
      {"textbook",
       "PPO as published, on the reward itself and the plain observation",
       {{"agent", "ppo(n_steps=256,lr=0.0003,ent_coef=0.01,ent_schedule=constant,gae_lambda=0.95)"},
        {"network", "pair_scorer"},
        {"encoder", "ObservationV1"},
        {"signal", "reward"},
        {"envs", "16"}}},
      {"many_clusters",
       "one policy for single jobs and gangs at many loads, on clusters of 24 GPUs of three types",
       {{"workload",
         "mix(of=synthetic(rate=0.9);on(cluster=v100=20+p100=2+k80=2,of=synthetic(rate=0.6,gangs=multi));"
         "synthetic(rate=1.1);on(cluster=v100=12+p100=11+k80=1,of=synthetic(rate=0.7,gangs=multi));"
         "synthetic(rate=1.4);synthetic(rate=0.85,gangs=1:0.7/2:0.3))"},
        {"cluster", "v100=8,p100=8,k80=8"},
        {"envs", "64"},
        {"steps", "2000000"}}},
  };
  return kAll;
}

}  // namespace

std::string RecipesHelp() {
  std::string text = "options together; those given go before:";
  for (const Recipe& recipe : Recipes()) text += Join(" ", recipe.name, " (", recipe.summary, ")");
  return text;
}

void ApplyRecipe(Options& options) {
  std::vector<std::string> names;
  for (const Recipe& recipe : Recipes()) {
    names.emplace_back(recipe.name);
    if (options.Text("recipe") != recipe.name) continue;
    // As a configuration file: what it says counts as given, and what was given before goes before.
    std::string text;
    for (const auto& [name, value] : recipe.options) {
      const bool of_the_jobs = std::string(name) == "workload" || std::string(name) == "cluster";
      if (!of_the_jobs || !options.Given("scenario")) text += Join(name, "=", value, "\n");
    }
    options.ReadConfigText(text, Join("--recipe ", recipe.name));
    return;
  }
  std::string all;
  for (const std::string& name : names) all += Join(all.empty() ? "" : ", ", name);
  throw Error(Join(options.Where("recipe"), ": expected one of ", all, ", found '", options.Text("recipe"),
                   "'", DidYouMean(options.Text("recipe"), names)));
}

}  // namespace berth
