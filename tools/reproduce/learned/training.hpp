// Training the policies of `reproduce learned` from nothing.
#pragma once

#include <string>
#include <vector>

#include "tools/reproduce/learned/recipes.hpp"

namespace berth {

struct TrainingPlan {
  std::vector<Recipe> recipes;
  int begin = 1, end = 6;  // training seeds; a recipe has no more than its own
  std::string traces;      // "" = not there: recipes that need them are passed over and named
  std::string out;         // OUT/training/NAME_SEED holds runs and policies of each step
  std::string policies;    // folder of what comes out: PolicyShelf's NAME_SEED.h5, its learning curve .csv
  int threads = 1;
};

// Error in one line where this build has no learners. A policy that is there is kept, a run that was
// interrupted goes on. False when interrupted. `dry`: resolves every option, trains nothing.
bool TrainRecipes(const TrainingPlan& plan, bool dry);

// The rows of RUN/progress.csv that a learning curve needs: global_step, wall_s and metric, at most `rows`.
std::string LearningCurve(const std::string& progress_csv, std::size_t rows);

}  // namespace berth
