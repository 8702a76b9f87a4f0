#include "tools/reproduce/learned/training.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "env/check.hpp"
#include "tools/interrupt.hpp"
#include "tools/learn_library.hpp"
#include "tools/output_file.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr std::size_t kCurveRows = 200;

// What the curve keeps, by its name in progress.csv.
constexpr const char* kColumns[] = {"global_step", "time/wall_s", "charts/metric"};

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

// False when interrupted.
bool TrainOne(const Recipe& recipe, int seed, const TrainingPlan& plan) {
  const std::string name = Join(recipe.name, "_", seed);
  const std::string run = Join(plan.out, "/training/", name), policy = Join(plan.policies, "/", name, ".h5");
  if (std::filesystem::exists(policy)) return true;
  std::cout << "\n== " << name << "\n";
  std::vector<std::string> arguments = TrainArguments(recipe, seed, plan.traces, run);
  if (std::filesystem::exists(run + "/checkpoint.h5")) arguments = {"--resume", "--out", run};
  arguments.insert(arguments.end(), {"--threads", std::to_string(plan.threads)});
  if (RunTrain(arguments) == kExitInterrupted) return false;
  std::ifstream progress(run + "/progress.csv");
  const std::string text(std::istreambuf_iterator<char>(progress), {});
  WriteTextFile(Join(plan.policies, "/", name, ".csv"), LearningCurve(text, kCurveRows));
  RunExport({run, "--out", policy});
  return true;
}

}  // namespace

std::string LearningCurve(const std::string& progress_csv, std::size_t rows) {
  std::istringstream in(progress_csv);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = Split(line);
  std::vector<std::size_t> columns;
  for (const char* column : kColumns) {
    const auto at = std::find(names.begin(), names.end(), column);
    if (at == names.end()) throw Error(Join("progress.csv: expected a column ", column, ", found none"));
    columns.push_back(static_cast<std::size_t>(at - names.begin()));
  }
  std::vector<std::string> all;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = Split(line);
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
    MakeFolder(plan.policies, "--out");
  }
  for (const Recipe& recipe : plan.recipes) {
    if (recipe.needs_traces() && plan.traces.empty()) {
      std::cout << recipe.name << ": not trained, the public traces are not there\n";
      continue;
    }
    for (int seed = std::max(plan.begin, 1); seed < plan.end && seed <= recipe.seeds; ++seed) {
      if (dry) {
        const std::string run = Join(plan.out, "/training/", recipe.name, "_", seed);
        std::vector<std::string> arguments = TrainArguments(recipe, seed, plan.traces, run);
        arguments.emplace_back("--dry-run");
        RunTrain(arguments);
      } else if (!TrainOne(recipe, seed, plan)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace berth
