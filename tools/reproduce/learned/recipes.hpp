// How each shipped policy is trained: `reproduce learned --train` runs these, and data/policies/README.md
// says nothing else.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

// Options of a verb in order, without the dashes. {traces} stands for the folder of public traces.
using RecipeOptions = std::vector<std::pair<std::string, std::string>>;

// One after the other: `train` begins from nothing and exports; `tune` searches on from the policy before it,
// or, the first, from nothing (--hinges).
struct RecipeStep {
  enum class Verb { kTrain, kTune } verb;
  RecipeOptions options;
};

struct Recipe {
  const char* name;        // of the policies: NAME_1.h5, ... by training seed
  const char* experiment;  // that needs it, and the room that holds its policies; those of `cluster` serve
                           // `scale`, `horizon` and `behaviour` too
  int seeds;               // training seeds 1 .. seeds
  std::vector<RecipeStep> steps;

  bool needs_traces() const;
};
const std::vector<Recipe>& Recipes();

const char* ToString(RecipeStep::Verb verb);  // "train", "tune"

// The step's words behind `berth VERB`, without seed and outputs.
std::vector<std::string> StepArguments(const RecipeStep& step, const std::string& traces);

}  // namespace berth
