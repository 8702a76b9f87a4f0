// The tables of recipes, a file for each row of the page, and what they share.
#pragma once

#include "env/base/check.hpp"
#include "tools/reproduce/learned/recipes.hpp"

namespace berth::recipes {

std::vector<Recipe> Cluster();     // row 1, the learners and the ablations
std::vector<Recipe> Lublin();      // rows 2 and 3
std::vector<Recipe> Real();        // row 4
std::vector<Recipe> Objectives();  // row 5

using Options = RecipeOptions;
inline Options operator+(Options all, const Options& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline constexpr const char* kPlace = "{traces}";
// Clusters of 24 GPUs: all that a policy of generated workloads is trained on.
inline const Options kSmall = {{"cluster", "v100=8,p100=8,k80=8"}};
inline const Options kNetwork = {{"encoder", "ObservationV3"}, {"network", "pair_scorer(width=8,skip=true)"}};

// From nothing by one run of `berth train`.
inline std::vector<RecipeStep> Train(const Options& options) {
  return {{RecipeStep::Verb::kTrain, options}};
}

// Rows 4 and 5: a network as it is initialised, then its linear part searched from a rule. `search` says what
// differs: reward, rule, workloads, reference.
std::vector<RecipeStep> SearchRule(const Options& on, const Options& train, const std::string& reward,
                                   const Options& search);

}  // namespace berth::recipes
