#include "tools/reproduce/learned/recipes.hpp"

#include <algorithm>

#include "tools/reproduce/learned/recipe_tables.hpp"

namespace berth {

bool Recipe::needs_traces() const {
  return std::any_of(steps.begin(), steps.end(), [](const RecipeStep& step) {
    return std::any_of(step.options.begin(), step.options.end(), [](const auto& option) {
      return option.second.find(recipes::kPlace) != std::string::npos;
    });
  });
}

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> all = [] {
    std::vector<Recipe> joined;
    for (const auto rows : {recipes::Cluster, recipes::Lublin, recipes::Real, recipes::Objectives}) {
      for (Recipe& recipe : rows()) joined.push_back(std::move(recipe));
    }
    return joined;
  }();
  return all;
}

const char* ToString(RecipeStep::Verb verb) {
  return verb == RecipeStep::Verb::kTrain ? "train" : "tune";
}

std::vector<std::string> StepArguments(const RecipeStep& step, const std::string& traces) {
  std::vector<std::string> words;
  for (auto [name, value] : step.options) {
    const std::size_t at = value.find(recipes::kPlace);
    if (at != std::string::npos) value.replace(at, std::string_view(recipes::kPlace).size(), traces);
    words.insert(words.end(), {"--" + name, value});
  }
  return words;
}

}  // namespace berth
