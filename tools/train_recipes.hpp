// Ways of training that have a name: options of `berth train` together, for --recipe.
#pragma once

#include <cstdint>

#include "tools/options.hpp"

namespace berth {

inline constexpr std::int64_t kMostSteps = 1'000'000'000'000;  // of --steps

// "default | textbook | ...: what they are", for --help.
std::string RecipesHelp();

// What --members auto comes to, for --help.
std::string MembersHelp();

// Sets the options of the recipe that --recipe names, but those that were given, and --members auto to a
// number. Throws Error with the nearest name.
void ApplyRecipe(Options& options);

}  // namespace berth
