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

// Row 1: clusters of 24 GPUs, single jobs at four loads, gangs among many GPUs of a type and among few. A
// gang of 8 is a third of 20 V100s, as it is of 36, but all of 8.
const Options kSmall = {{"cluster", "v100=8,p100=8,k80=8"}};
std::string On(const char* cluster, const char* rate) {
  return Join("on(cluster=", cluster, ",of=synthetic(rate=", rate, ",jobs=650,gangs=multi))");
}
std::string Single(const char* rate) {
  return Join("synthetic(rate=", rate, ",jobs=650)");
}
std::string Pairs(const char* rate) {
  return Join("synthetic(rate=", rate, ",jobs=650,gangs=1:0.7/2:0.3)");
}
Options Mix() {
  const char* const many = "v100=20+p100=2+k80=2";
  return {{"workload",
           Join("mix(of=", Single("0.9"), ";", On(many, "0.5"), ";", Single("1.0667"), ";", On(many, "0.6"),
                ";", Single("1.2444"), ";", On(many, "0.7"), ";", Single("1.4222"), ";",
                On("v100=12+p100=11+k80=1", "0.7"), ";", Pairs("0.75"), ";", Pairs("0.95"), ")")}};
}
const Options kOracle = Options{{"knowledge", "oracle"}} + kSmall;
const Options kBlind = Options{{"knowledge", "blind"}} + kSmall;
const Options kNetwork = {{"encoder", "ObservationV3"}, {"network", "pair_scorer(width=8,skip=true)"}};
constexpr const char* kSteps = "500000";  // of every learner

// A network as it is initialised (one update), then its linear part searched from the rule "where the
// assignments put it, least regret, then least GPU time", which trusts both assignments alike.
constexpr const char* kStart =
    "job.size=-1,job.members=-1,pair.regret=-2.5,pair.matched=2.5,pair.regret_gpu=-2.5,pair.matched_gpu=2.5";
std::vector<RecipeStep> Search(const Options& knowledge, const char* reference) {
  const Options search =
      knowledge + Mix() + Options{{"reference", reference}, {"workloads", "10"},      {"jobs", "650"},
                                  {"window", "150:280"},    {"start", kStart},        {"layers", "skip"},
                                  {"step", "0.25"},         {"learning-rate", "0.1"}, {"generations", "45"},
                                  {"seconds", "0"},         {"validate", "10"}};
  return {{RecipeStep::Verb::kTrain,
           knowledge + Mix() + kNetwork +
               Options{{"agent", "ppo(n_steps=1024,minibatch=4096)"}, {"steps", "16384"}}},
          {RecipeStep::Verb::kTune, search}};
}

// Rows 2 and 3: tools/evolve/README.md says how these were chosen. Loads: half to 1.1 times what the cluster
// can do, which is another factor for each log.
enum class Log { kLublin1, kLublin2 };
std::vector<RecipeStep> Lublin(Log log, const Options& process) {
  const bool first = log == Log::kLublin1;
  const char* const file = first ? "lublin_256.swf.gz" : "lublin_256_new2.swf.gz";
  Options options = {{"scenario", Join(kPlace, "/rlscheduler-lublin/", file)},
                     {"format", "swf"},
                     {"encoder", "Batch"},
                     {"preemptive", "false"},
                     {"load", first ? "0.5:1.1" : "0.8:1.7"},
                     {"run-time", "0.1:10"},
                     {"gang", "0.25:2"},
                     {"jobs", "0:7500"},
                     {"validate", "7500:10000"}};
  options = options + process;
  for (auto& [name, value] : options) {
    if (name == "penalty" && value == "log's") value = first ? "0.5" : "2";
  }
  return {{RecipeStep::Verb::kEvolve, options}};
}
const Options kCommit = {{"semantics", "commit"}, {"clock", "hpc"}, {"reference", "saf(semantics=commit)"},
                         {"generations", "30"},   {"pieces", "10"}, {"step", "0.2"}};
const Options kCommitEasy = {{"semantics", "commit"},
                             {"clock", "hpc"},
                             {"commit-backfill", "true"},
                             {"reference", "saf(semantics=commit,backfill=easy)"},
                             {"generations", "40"},
                             {"pieces", "20"},
                             {"step", "0.2"}};
const Options kRedecide = {
    {"clock", "event"},   {"work-conserving", "true"}, {"reserve", "head"}, {"reference", "saf"},
    {"penalty", "log's"}, {"generations", "30"},       {"pieces", "10"},    {"step", "0.2"}};
const Options kRedecideEasy = {{"clock", "event"},    {"work-conserving", "true"},
                               {"reserve", "easy"},   {"reference", "f3(backfill=easy)"},
                               {"penalty", "0.5"},    {"margin", "1.05"},
                               {"generations", "30"}, {"pieces", "20"},
                               {"step", "0.1"},       {"start", "request=1,gang=0.8,overdue=-0.5"}};

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

// Row 1's network trained by an agent alone; `other` takes the place of options of the same name.
constexpr const char* kPpo = "ppo(n_steps=128,minibatch=1024,lr=0.002,ent_coef=0.001)";
std::vector<RecipeStep> Learner(const char* agent, const Options& other) {
  Options options = kOracle + Mix() + kNetwork + Options{{"agent", agent}, {"steps", kSteps}};
  for (auto& [name, value] : options) {
    for (const auto& [replaced, with] : other) {
      if (name == replaced) value = with;
    }
  }
  return Train(options);
}

Options Objective(const std::string& reward) {
  return kOracle + Options{{"workload", "synthetic(rate=1.2,jobs=1000)"}} +
         Options{{"reward", reward}, {"steps", "5000000"}};
}

std::vector<Recipe> Table() {
  return {
      {"hetero_oracle", "cluster", 5, Search(kOracle, "srpt")},
      {"hetero_blind", "cluster", 5, Search(kBlind, "las")},
      {"learner_ppo", "learners", 5, Learner(kPpo, {})},
      {"learner_dqn", "learners", 5, Learner("dqn(train_freq=256)", {})},
      {"learner_reinforce", "learners", 5, Learner("reinforce", {})},
      {"lublin1_commit", "lublin", 5, Lublin(Log::kLublin1, kCommit)},
      {"lublin1_commit_easy", "lublin", 5, Lublin(Log::kLublin1, kCommitEasy)},
      {"lublin1_redecide", "lublin", 5, Lublin(Log::kLublin1, kRedecide)},
      {"lublin1_redecide_easy", "lublin", 5, Lublin(Log::kLublin1, kRedecideEasy)},
      {"lublin2_commit", "lublin", 5, Lublin(Log::kLublin2, kCommit)},
      {"lublin2_commit_easy", "lublin", 5, Lublin(Log::kLublin2, kCommitEasy)},
      {"lublin2_redecide", "lublin", 5, Lublin(Log::kLublin2, kRedecide)},
      {"lublin2_redecide_easy", "lublin", 5, Lublin(Log::kLublin2, kRedecideEasy)},
      {"itp02", "real", 5, Train(Itp("cluster02", "112", "4044"))},
      {"itp03", "real", 5, Train(Itp("cluster03", "176", "2107"))},
      {"itp06", "real", 5, Train(Itp("cluster06", "112", "1677"))},
      {"philly", "real", 5, Train(kPhilly)},
      {"objective_makespan", "objectives", 5, Train(Objective("makespan"))},
      {"objective_ftf", "objectives", 5, Train(Objective("ftf"))},
      {"objective_cost", "objectives", 5, Train(Objective("cost"))},
      {"objective_weighted", "objectives", 5, Train(Objective("jct+3600*cost"))},
      // What each ingredient is worth to PPO, at the steps of `learner_ppo`; the name is the row of the
      // table.
      {"ablation_full", "ablations", 3, Learner(kPpo, {})},
      {"ablation_without_prices", "ablations", 3, Learner(kPpo, {{"encoder", "ObservationV1"}})},
      {"ablation_without_skip", "ablations", 3, Learner(kPpo, {{"network", "pair_scorer(width=8)"}})},
      {"ablation_with_32_units", "ablations", 3,
       Learner(kPpo, {{"network", "pair_scorer(width=32,skip=true)"}})},
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
  switch (verb) {
    case RecipeStep::Verb::kTrain:
      return "train";
    case RecipeStep::Verb::kTune:
      return "tune";
    case RecipeStep::Verb::kEvolve:
      return "evolve";
  }
  return "";
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
