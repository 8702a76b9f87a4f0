#include "tools/reproduce/learned/recipes.hpp"

#include <algorithm>

#include "env/check.hpp"

namespace berth {
namespace {

using Options = RecipeOptions;

constexpr const char* kPlace = "{traces}";

Options operator+(Options all, const Options& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Row 1: small clusters of the three types, the shipped generator.
const Options kCluster = {{"cluster", "v100=8,p100=8,k80=8"}, {"workload", "synthetic(rate=1.2,jobs=1000)"}};
const Options kOracle = kCluster + Options{{"knowledge", "oracle"}};
const Options kBlind = kCluster + Options{{"knowledge", "blind"}};
constexpr const char* kSteps = "20000000";

Options Lublin(const std::string& log, const Options& process) {
  const Options base = {{"scenario", Join(kPlace, "/rlscheduler-lublin/", log)},
                        {"format", "swf"},
                        {"preemptive", "false"},
                        {"reward", "slowdown"},
                        {"episode-jobs", "256"},
                        {"steps", "2000000"}};
  return base + process;
}
constexpr const char* kLublin1 = "lublin_256.swf.gz";
constexpr const char* kLublin2 = "lublin_256_new2.swf.gz";
const Options kCommit = {{"semantics", "commit"}, {"clock", "hpc"}};
const Options kCommitEasy = kCommit + Options{{"commit-backfill", "true"}};
const Options kRedecide = {{"semantics", "redecide"}, {"clock", "event"}};

// Row 4: the first 70% of the jobs (real.cpp tests on the rest), on as many GPUs as it does.
Options Itp(const std::string& cluster, const std::string& gpus, const std::string& jobs) {
  return {
      {"scenario", Join(kPlace, "/microsoft-itp-elasticflow/elasticflow-traces.tar.gz:", cluster, ".csv")},
      {"format", "itp"},
      {"cluster", Join("p100=", gpus)},
      {"jobs", Join("0:", jobs)},
      {"steps", "2000000"}};
}
const Options kPhilly = {{"scenario", Join(kPlace, "/philly/philly_sorted.csv.gz")},
                         {"format", "philly"},
                         {"cluster", "p100=512/8"},
                         {"jobs", "0:57572"},
                         {"steps", "2000000"}};

// From nothing by one run of `berth train`.
std::vector<RecipeStep> Train(const Options& options) {
  return {{RecipeStep::Verb::kTrain, options}};
}

Options Objective(const std::string& reward) {
  return kOracle + Options{{"reward", reward}, {"steps", "5000000"}};
}

std::vector<Recipe> Table() {
  return {
      {"hetero_oracle", "cluster", 5, Train(kOracle + Options{{"steps", kSteps}})},
      {"hetero_blind", "cluster", 5, Train(kBlind + Options{{"steps", kSteps}})},
      {"learner_ppo", "learners", 5, Train(kOracle + Options{{"agent", "ppo"}, {"steps", "5000000"}})},
      {"learner_dqn", "learners", 5, Train(kOracle + Options{{"agent", "dqn"}, {"steps", "5000000"}})},
      {"learner_reinforce", "learners", 5,
       Train(kOracle + Options{{"agent", "reinforce"}, {"steps", "5000000"}})},
      {"lublin1_commit", "lublin", 5, Train(Lublin(kLublin1, kCommit))},
      {"lublin1_commit_easy", "lublin", 5, Train(Lublin(kLublin1, kCommitEasy))},
      {"lublin1_redecide", "lublin", 5, Train(Lublin(kLublin1, kRedecide))},
      {"lublin1_redecide_easy", "lublin", 5, Train(Lublin(kLublin1, kRedecide))},
      {"lublin2_commit", "lublin", 5, Train(Lublin(kLublin2, kCommit))},
      {"lublin2_commit_easy", "lublin", 5, Train(Lublin(kLublin2, kCommitEasy))},
      {"lublin2_redecide", "lublin", 5, Train(Lublin(kLublin2, kRedecide))},
      {"lublin2_redecide_easy", "lublin", 5, Train(Lublin(kLublin2, kRedecide))},
      {"itp02", "real", 5, Train(Itp("cluster02", "112", "4044"))},
      {"itp03", "real", 5, Train(Itp("cluster03", "176", "2107"))},
      {"itp06", "real", 5, Train(Itp("cluster06", "112", "1677"))},
      {"philly", "real", 5, Train(kPhilly)},
      {"objective_makespan", "objectives", 5, Train(Objective("makespan"))},
      {"objective_ftf", "objectives", 5, Train(Objective("ftf"))},
      {"objective_cost", "objectives", 5, Train(Objective("cost"))},
      {"objective_weighted", "objectives", 5, Train(Objective("jct+3600*cost"))},
      // Each ingredient alone left out of the full recipe; the name is the row of the table.
      {"ablation_full", "ablations", 3, Train(kOracle + Options{{"steps", "5000000"}})},
      {"ablation_without_discount", "ablations", 3,
       Train(kOracle + Options{{"steps", "5000000"}, {"tau", "1e9"}})},
      {"ablation_with_mlp", "ablations", 3,
       Train(kOracle + Options{{"steps", "5000000"}, {"network", "mlp"}})},
      {"ablation_with_search",
       "ablations",
       3,
       {{RecipeStep::Verb::kTrain, kOracle + Options{{"steps", "5000000"}}},
        {RecipeStep::Verb::kTune, kOracle + Options{{"seconds", "0"}, {"generations", "100"}}}}},
  };
}

}  // namespace

bool Recipe::needs_traces() const {
  return std::any_of(steps.begin(), steps.end(), [](const RecipeStep& step) {
    return std::any_of(step.options.begin(), step.options.end(),
                       [](const auto& option) { return option.second.find(kPlace) != std::string::npos; });
  });
}

const std::vector<Recipe>& Recipes() {
  static const std::vector<Recipe> recipes = Table();
  return recipes;
}

const char* ToString(RecipeStep::Verb verb) {
  return verb == RecipeStep::Verb::kTrain ? "train" : "tune";
}

std::vector<std::string> StepArguments(const RecipeStep& step, const std::string& traces) {
  std::vector<std::string> words;
  for (auto [name, value] : step.options) {
    const std::size_t at = value.find(kPlace);
    if (at != std::string::npos) value.replace(at, std::string_view(kPlace).size(), traces);
    words.insert(words.end(), {"--" + name, value});
  }
  return words;
}

}  // namespace berth
