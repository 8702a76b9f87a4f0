// How each shipped policy is trained: `reproduce learned --train` runs these, and data/policies/README.md
// says nothing else.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

struct Recipe {
  const char* name;        // of the policies: NAME_1.h5, ... by training seed
  const char* experiment;  // that needs it; those of `cluster` serve `scale` and `behaviour` too
  int seeds;               // training seeds 1 .. seeds
  // Options of `berth train` in order, without the dashes. {traces} stands for the folder of public traces.
  std::vector<std::pair<std::string, std::string>> options;

  bool needs_traces() const;
};
const std::vector<Recipe>& Recipes();

// The words behind `berth train`.
std::vector<std::string> TrainArguments(const Recipe& recipe, int seed, const std::string& traces,
                                        const std::string& out);

}  // namespace berth
