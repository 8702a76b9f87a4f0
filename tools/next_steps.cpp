#include "tools/next_steps.hpp"

#include <map>
#include <sstream>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

using Given = std::map<std::string, std::string>;

// What holds where there is no file and nothing is said.
bool Default(const std::string& name, const std::string& value) {
  return (name == "workload" && value == kDefaultWorkload) ||
         (name == "cluster" && value == kDefaultCluster) || (name == "clock" && value == "rounds(360)") ||
         (name == "knowledge" && value == "oracle");
}

std::string Words(const Given& given) {
  std::string words;
  for (const char* name : {"scenario", "format", "workload", "cluster", "clock", "knowledge", "sigma",
                           "checkpoint-cost", "restore-cost", "migration-cost", "features"}) {
    const auto found = given.find(name);
    if (found == given.end() || (given.count("scenario") == 0 && Default(name, found->second))) continue;
    words += Join(" --", name, " ", ForShell(found->second));
  }
  return words;
}

Given GivenIn(const std::string& config) {
  Given given;
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) given[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return given;
}

// The words that say which jobs, and these options with them.
std::string Again(const std::string& config, std::initializer_list<const char*> names) {
  const Given given = GivenIn(config);
  std::string words = Words(given);
  for (const char* name : names) {
    const auto found = given.find(name);
    if (found != given.end() && !found->second.empty())
      words += Join(" --", name, " ", ForShell(found->second));
  }
  return words;
}

}  // namespace

std::string ForShell(const std::string& word) {
  constexpr const char* kBare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kBare) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string SameJobs(const Options& options) {
  Given given;
  for (const auto& [name, value] : options.Resolved()) {
    if (options.Given(name)) given[name] = value;
  }
  return Words(given);
}

std::string SameJobs(const std::string& config) {
  return Words(GivenIn(config));
}

std::string NextOfEvaluation(const std::string& config) {
  return NextStep(
      "pictures of it",
      Join("evaluate", Again(config, {"seeds", "window", "max-time", "schedulers"}), " --report page"));
}

std::string NextOfEvents(const std::string& config) {
  return NextStep(
      "the same run as a timeline",
      Join("simulate", Again(config, {"seed", "window", "max-time", "scheduler"}), " --timeline run.json"));
}
std::string FirstLook(Knowledge knowledge) {
  if (knowledge >= Knowledge::kEstimate) return "fcfs;easy;srpt;las";
  return knowledge == Knowledge::kBlind ? "fcfs;las;tuned_blind" : "fcfs;best_fit";
}

std::string TrainingPart(int num_jobs) {
  constexpr int kFewest = 10;  // jobs that can be divided at all
  return num_jobs < kFewest ? "" : Join(" --jobs 0:", num_jobs * 7 / 10);
}

std::string NextStep(const std::string& meaning, const std::string& words) {
  return Join("next, ", meaning, ":\n  ", CommandName(), " ", words, "\n");
}

std::string NextOfScenario(const std::string& file, const Scenario& scenario) {
  return NextStep("what schedulers make of it", Join("evaluate --scenario ", ForShell(file), " --schedulers ",
                                                     ForShell(FirstLook(scenario.data().knowledge))));
}

std::string NextOfPolicy(const std::string& file, const std::string& config) {
  return NextStep(
      "what it is worth, on the jobs that it was trained for (of a file: --window for those kept back)",
      Join("evaluate", SameJobs(config), " --schedulers ", ForShell(Join("fcfs;policy(file=", file, ")"))));
}

}  // namespace berth
