#include "tools/train_recipes.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "agents/train/learn_api.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/validation.hpp"

namespace berth {
namespace {

struct Recipe {
  const char* name;
  const char* summary;
  std::vector<std::pair<const char*, const char*>> options;
  // So many steps are worth one more share of environments and rows; 0: rollouts stay as they are.
  std::int64_t steps_a_share = 0;
};

// Seeds differ less, and several together do better than one that had all the steps
// (agents/DEFAULTS.md).
constexpr std::int64_t kStepsOfOne = 125'000, kManySteps = 4'000'000, kFewMembers = 4, kManyMembers = 8;

std::int64_t ResolveMembers(Options& options) {
  if (options.Text("members") == "auto") {
    const std::int64_t steps = options.Integer("steps", 1, kMostSteps);
    // Runs of before there were members had one; a policy to begin with is one already; DQN needs all the
    // steps that there are.
    const bool one =
        options.Bool("resume") || !options.Text("from").empty() || !DrawsByScores(options.Text("agent"));
    const std::int64_t members = one ? 1
                                 : steps >= kManySteps
                                     ? kManyMembers
                                     : std::clamp<std::int64_t>(steps / kStepsOfOne, 1, kFewMembers);
    options.Assign("members", std::to_string(members));
  }
  return options.Integer("members", 1, kMostMembers);
}

// Longer training is as many updates, each on more rows, not more updates of the same noise: on a mix of
// clusters those end in policies up to an eighth worse. Delays can weigh more where there is less noise, and
// do where run times are not known (agents/DEFAULTS.md).
std::string ForManyClusters(std::int64_t steps, std::int64_t steps_a_share, bool blind) {
  constexpr std::int64_t kEnvs = 64, kSteps = 128, kMinibatch = 1024, kMostShares = 1000, kMostEnvs = 4;
  constexpr double kDelay = 1.5, kMostDelay = 3.0, kSharesOfMost = 5.0;
  const std::int64_t shares = std::clamp<std::int64_t>(steps / steps_a_share, 1, kMostShares);
  const std::int64_t more = std::min(shares, kMostEnvs);
  const double grown = blind ? 1.0 : std::min(1.0, static_cast<double>(shares - 1) / (kSharesOfMost - 1.0));
  return Join("envs=", kEnvs * more, "\nagent=ppo(n_steps=", kSteps * shares / more,
              ",minibatch=", kMinibatch * shares,
              ")\nsignal=wspt(delay=", kDelay + (kMostDelay - kDelay) * grown, ")\n");
}

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> kAll = {
      {"default", "the options' own defaults", {}},
      {"textbook",
       "PPO as published, on the reward itself and the plain observation",
       {{"agent", "ppo(n_steps=256,lr=0.0003,ent_coef=0.01,ent_schedule=constant,gae_lambda=0.95)"},
        {"network", "pair_scorer"},
        {"encoder", "ObservationV1"},
        {"signal", "reward"},
        {"members", "1"},
        {"envs", "16"}}},
      {"many_clusters",
       "one policy for single jobs and gangs at many loads, on 24 GPUs of three types; "
       "more steps make rollouts larger",
       {{"workload",
         "mix(of=synthetic(rate=0.9);on(cluster=v100=20+p100=2+k80=2,of=synthetic(rate=0.6,gangs=multi));"
         "synthetic(rate=1.1);on(cluster=v100=12+p100=11+k80=1,of=synthetic(rate=0.7,gangs=multi));"
         "synthetic(rate=1.4);synthetic(rate=0.85,gangs=1:0.7/2:0.3))"},
        {"cluster", "v100=8,p100=8,k80=8"},
        {"steps", "2000000"}},
       500'000},
      {"adaptive",
       "jobs that choose their batch",
       {{"workload", "adaptive(jobs=160)"},
        {"features", "goodput(model=known)"},
        {"cluster", "t4=64/4"},
        {"clock", "rounds(60)"},
        {"actions", "start,scale"},
        {"signal", "even_share"},
        {"tau", "3600"},
        {"episode-jobs", "160"},
        {"warmup-jobs", "0"},
        {"agent", "ppo(ent_coef=0,clip=0.1)"},
        {"network", "pair_scorer(width=32,skip=true)"},
        {"members", "1"},
        {"steps", "3000000"}}},
  };
  return kAll;
}

}  // namespace

std::string RecipesHelp() {
  std::string text = "options together; those given go before:";
  for (const Recipe& recipe : Recipes()) text += Join(" ", recipe.name, " (", recipe.summary, ")");
  return text;
}

std::string MembersHelp() {
  return Join(
      "policies that are trained one after the other, each for its part of --steps, and decide by the ",
      "sum of their scores; auto = one for every ", kStepsOfOne, " steps, at most ", kFewMembers, ", from ",
      kManySteps, " steps on ", kManyMembers, "; of dqn, and with --from, 1");
}

void ApplyRecipe(Options& options) {
  std::vector<std::string> names;
  for (const Recipe& recipe : Recipes()) {
    names.emplace_back(recipe.name);
    if (options.Text("recipe") != recipe.name) continue;
    // As a configuration file: what it says counts as given, and what was given before goes before.
    std::string text;
    for (const auto& [name, value] : recipe.options) {
      const std::string option = name;
      const bool of_the_jobs = option == "workload" || option == "cluster";
      if (!(of_the_jobs && options.Given("scenario"))) text += Join(option, "=", value, "\n");
    }
    const std::string where = Join("--recipe ", recipe.name);
    options.ReadConfigText(text, where);
    const std::int64_t members = ResolveMembers(options);
    if (recipe.steps_a_share > 0) {
      // Another agent has its own rows, which more environments alone would not make larger.
      const std::int64_t steps =
          options.Given("agent") ? 0 : options.Integer("steps", 1, kMostSteps) / members;
      text = ForManyClusters(steps, recipe.steps_a_share, options.Text("knowledge") == "blind");
      // A signal of completion times is none of another reward.
      if (options.Given("reward")) text.erase(text.find("signal="));
      options.ReadConfigText(text, where);
    }
    return;
  }
  std::string all;
  for (const std::string& name : names) all += Join(all.empty() ? "" : ", ", name);
  throw Error(Join(options.Where("recipe"), ": expected one of ", all, ", found '", options.Text("recipe"),
                   "'", DidYouMean(options.Text("recipe"), names)));
}

}  // namespace berth
