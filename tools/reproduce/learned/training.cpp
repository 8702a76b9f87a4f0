#include "tools/reproduce/learned/training.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/whole_file.hpp"
#include "tools/interrupt.hpp"
#include "tools/learn_library.hpp"
#include "tools/output_file.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr std::size_t kCurveRows = 200;

// What the curve keeps, by its name in progress.csv.
constexpr const char* kColumns[] = {"global_step", "time/wall_s", "charts/metric"};

std::vector<std::string> SplitCells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

using Words = std::vector<std::string>;

// Trains in `run`, or goes on there, and freezes to `policy` the best that was validated, else the last.
// False when interrupted.
bool TrainStep(Words arguments, const std::string& run, const std::string& policy) {
  if (std::filesystem::exists(run + "/checkpoint.h5")) {
    const auto threads = std::find(arguments.begin(), arguments.end(), "--threads");
    arguments.erase(arguments.begin(), threads);  // the other options are the run's
    arguments.emplace_back("--resume");
  }
  arguments.insert(arguments.end(), {"--out", run});
  if (RunTrain(arguments) == kExitInterrupted) return false;
  if (std::filesystem::exists(run + "/best.h5")) {
    WriteWhole(policy, ReadText(run + "/best.h5"));
  } else {
    RunExport({run, "--out", policy});
  }
  return true;
}

// False when interrupted.
bool TrainOne(const Recipe& recipe, int seed, const TrainingPlan& plan) {
  const std::filesystem::path result = PolicyShelf(plan.policies, 1, 1).Path(recipe.name, seed);
  const std::string name = result.stem(), curve = std::filesystem::path(result).replace_extension(".csv");
  if (std::filesystem::exists(result)) return true;
  MakeFolder(result.parent_path(), "--out");
  std::cout << "\n== " << name << "\n";
  const std::string folder = Join(plan.out, "/training/", name);
  MakeFolder(folder, "--out");
  std::string policy;  // of the last step that is done
  for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
    const RecipeStep& step = recipe.steps[i];
    const std::string run = Join(folder, "/run_", i), next = Join(folder, "/step_", i, ".h5");
    if (!std::filesystem::exists(next)) {
      Words arguments = StepArguments(step, plan.traces);
      arguments.insert(arguments.end(),
                       {"--seed", std::to_string(seed), "--threads", std::to_string(plan.threads)});
      if (step.verb == RecipeStep::Verb::kTrain) {
        if (!TrainStep(std::move(arguments), run, next)) return false;
      } else {
        const std::string state = Join(folder, "/search_", i, ".h5");
        if (!policy.empty()) arguments.insert(arguments.end(), {"--policy", policy});
        // An answer on the way is none: the search goes on.
        const std::string answer = Join(folder, "/answer_", i, ".h5");
        arguments.insert(arguments.end(), {"--curve", curve, "--state", state, "--out", answer});
        if (std::filesystem::exists(state)) arguments.emplace_back("--resume");
        if (RunTune(arguments) == kExitInterrupted) return false;
        MoveWhole(answer, next);
      }
    }
    if (step.verb == RecipeStep::Verb::kTrain)
      WriteTextFile(curve, LearningCurve(ReadText(run + "/progress.csv"), kCurveRows));
    policy = next;
  }
  WriteWhole(result, ReadText(policy));
  return true;
}

// Every option of every step is resolved; no policy is read or written.
void DryRun(const Recipe& recipe, const TrainingPlan& plan) {
  std::cout << "\n== " << recipe.name << "\n";
  for (const RecipeStep& step : recipe.steps) {
    Words arguments = StepArguments(step, plan.traces);
    arguments.emplace_back("--dry-run");
    if (step.verb == RecipeStep::Verb::kTrain) {
      arguments.insert(arguments.end(), {"--out", Join(plan.out, "/training/", recipe.name)});
      RunTrain(arguments);
    } else {
      if (&step != &recipe.steps.front()) arguments.insert(arguments.end(), {"--policy", "policy.h5"});
      arguments.insert(arguments.end(), {"--out", "next.h5"});
      RunTune(arguments);
    }
  }
}

}  // namespace

std::string LearningCurve(const std::string& progress_csv, std::size_t rows) {
  std::istringstream in(progress_csv);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = SplitCells(line);
  std::vector<std::size_t> columns;
  for (const char* column : kColumns) {
    const auto at = std::find(names.begin(), names.end(), column);
    if (at == names.end()) throw Error(Join("progress.csv: expected a column ", column, ", found none"));
    columns.push_back(static_cast<std::size_t>(at - names.begin()));
  }
  std::vector<std::string> all;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = SplitCells(line);
    if (cells.size() != names.size()) continue;  // half a row of a run that was killed
    all.push_back(Join(cells[columns[0]], ",", cells[columns[1]], ",", cells[columns[2]], "\n"));
  }
  std::string text = "global_step,wall_s,metric\n";
  const std::size_t kept = std::min(rows, all.size());
  for (std::size_t i = 0; i < kept; ++i)  // evenly, the last one included
    text += all[kept == 1 ? all.size() - 1 : i * (all.size() - 1) / (kept - 1)];
  return text;
}

bool TrainRecipes(const TrainingPlan& plan, bool dry) {
  if (!dry) {
    OpenLearnLibrary();  // says in one line that this build has none
  }
  for (const Recipe& recipe : plan.recipes) {
    if (recipe.needs_traces() && plan.traces.empty()) {
      std::cout << recipe.name << ": not trained, the public traces are not there\n";
      continue;
    }
    if (dry) {
      DryRun(recipe, plan);
      continue;
    }
    for (int seed = std::max(plan.begin, 1); seed < plan.end && seed <= recipe.seeds; ++seed) {
      if (!TrainOne(recipe, seed, plan)) return false;
    }
  }
  return true;
}

}  // namespace berth
