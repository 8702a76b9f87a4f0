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
struct Effort {
  const char *generations, *workloads, *step, *learning_rate;
};
constexpr Effort kFar = {"45", "10", "0.25", "0.1"};
// Blind, every far search wandered elsewhere: by workloads it stays nearer to the rule, and is better.
constexpr Effort kNear = {"22", "20", "0.15", "0.04"};
constexpr Effort kShort = {"15", "10", "0.25", "0.1"};
std::vector<RecipeStep> Search(const Options& knowledge, const char* reference, const Effort& effort,
                               const char* start = kStart) {
  const Options search = knowledge + Mix() +
                         Options{{"reference", reference},
                                 {"workloads", effort.workloads},
                                 {"jobs", "650"},
                                 {"window", "150:280"},
                                 {"start", start},
                                 {"layers", "skip"},
                                 {"step", effort.step},
                                 {"learning-rate", effort.learning_rate},
                                 {"generations", effort.generations},
                                 {"seconds", "0"},
                                 {"validate", "10"}};
  return {{RecipeStep::Verb::kTrain,
           knowledge + Mix() + kNetwork +
               Options{{"agent", "ppo(n_steps=1024,minibatch=4096)"}, {"steps", "16384"}}},
          {RecipeStep::Verb::kTune, search}};
}

// Rows 2 and 3: tools/evolve/README.md says how these were chosen. Loads: half to 1.1 times what the cluster
// can do, which is another factor for each log. A start is what longer searches on the same log came to,
// rounded; from the area rule a short search ends in either of two basins.
std::vector<RecipeStep> Lublin(bool first, const Options& process, const Options& log) {
  const char* const file = first ? "lublin_256.swf.gz" : "lublin_256_new2.swf.gz";
  const Options options = {{"scenario", Join(kPlace, "/rlscheduler-lublin/", file)},
                           {"format", "swf"},
                           {"preemptive", "false"},
                           {"load", first ? "0.5:1.1" : "0.8:1.7"},
                           {"run-time", "0.1:10"},
                           {"gang", "0.25:2"},
                           {"jobs", "0:7500"},
                           {"validate", "7500:10000"}};
  return {{RecipeStep::Verb::kEvolve, options + process + log}};
}
const Options kRules = {{"encoder", "Batch"}};
const Options kLookahead = {{"encoder", "Lookahead"}};
const Options kCommit = {
    {"semantics", "commit"}, {"clock", "hpc"}, {"reference", "saf(semantics=commit)"}, {"step", "0.1"}};
const Options kLong = {{"generations", "15"}, {"pieces", "10"}};
const Options kBrief = {{"generations", "8"}, {"pieces", "8"}, {"choose", "32"}};
const Options kCommitEasy = {{"semantics", "commit"},
                             {"clock", "hpc"},
                             {"commit-backfill", "true"},
                             {"reference", "saf(semantics=commit,backfill=easy)"},
                             {"step", "0.1"}};
const Options kRedecide = {{"clock", "event"},  {"work-conserving", "true"},
                           {"reserve", "head"}, {"reference", "saf"},
                           {"penalty", "1"},    {"pieces", "10"},
                           {"step", "0.1"},     {"choose", "32"}};
const Options kRedecideEasy = {
    {"clock", "event"}, {"work-conserving", "true"}, {"reserve", "easy"}, {"reference", "f3(backfill=easy)"},
    {"penalty", "1"},   {"generations", "5"},        {"pieces", "6"},     {"step", "0.1"},
    {"choose", "32"}};
// What is expected to cost least, where the difference is beyond its standard error.
constexpr const char* kExpected = "gain=-1,doubt=1,place=0.05";
Options From(const char* start) {
  return {{"start", start}};
}

// From nothing by one run of `berth train`.
std::vector<RecipeStep> Train(const Options& options) {
  return {{RecipeStep::Verb::kTrain, options}};
}

// Row 1's network trained by an agent alone, of whose ten policies on the way the one that does best on
// twenty validation workloads is kept; `other` takes the place of options of the same name. An instant is
// dozens of micro-actions, and nothing is paid before it is over: long returns.
constexpr const char* kDqn =
    "dqn(train_freq=256,n_step=64,lr=0.001,gradient_steps=2,target_interval=500,epsilon_end=0.02)";
constexpr const char* kPpo = "ppo(n_steps=128,minibatch=1024,lr=0.002,ent_coef=0.001)";
std::vector<RecipeStep> Learner(const char* agent, const Options& other) {
  Options options =
      kOracle + Mix() + kNetwork + Options{{"agent", agent}, {"steps", kSteps}, {"validate", "20"}};
  for (auto& [name, value] : options) {
    for (const auto& [replaced, with] : other) {
      if (name == replaced) value = with;
    }
  }
  return Train(options);
}

// Rows 4 and 5: as row 1, a network as it is initialised, then its linear part searched from a rule. `search`
// says what differs: reward, rule, workloads, reference.
std::vector<RecipeStep> SearchRule(const Options& on, const Options& train, const std::string& reward,
                                   const Options& search) {
  const Options minimised = {{"reward", reward}};
  return {{RecipeStep::Verb::kTrain,
           on + train + minimised + kNetwork +
               Options{{"agent", "ppo(n_steps=1024,minibatch=4096)"}, {"steps", "16384"}}},
          {RecipeStep::Verb::kTune,
           on + minimised + search +
               Options{{"layers", "skip"}, {"step", "0.25"}, {"seconds", "0"}, {"validate", "8"}}}};
}

// Row 4: the first 70% of the jobs (real.cpp tests on the rest), oracle knowledge. A missed deadline counts
// as five hours of completion time; the rule is the least GPU time first, gangs a little before that, jobs
// with time to spare before those that are late anyway.
constexpr const char* kAreaFirst = "queue(order=saf,preemption=order,overtake=true)";
std::vector<RecipeStep> Itp(const std::string& cluster, const std::string& gpus, const std::string& jobs) {
  const Options log = {
      {"scenario", Join(kPlace, "/microsoft-itp-elasticflow/elasticflow-traces.tar.gz:", cluster, ".csv")},
      {"format", "itp"},
      {"cluster", Join("p100=", gpus)}};
  return SearchRule(log, {{"jobs", Join("0:", jobs)}}, "jct+18000*deadline",
                    {{"pieces", Join("0:", jobs)},
                     {"jobs", "400"},
                     {"window", "80:300"},
                     {"start", "job.size=-2.5,job.members=-2,job.slack=1.5,pair.here=1"},
                     {"reference", kAreaFirst},
                     {"learning-rate", "0.1"},
                     {"population", "12"},
                     {"workloads", "4"},
                     {"generations", "8"}});
}
// Fewer GPUs than real.cpp tests on: a piece begins on an empty cluster and would leave 512 nearly idle.
std::vector<RecipeStep> Philly() {
  const Options log = {{"scenario", Join(kPlace, "/philly/philly_sorted.csv.gz")},
                       {"format", "philly"},
                       {"cluster", "p100=192/8"}};
  return SearchRule(log, {{"jobs", "0:57572"}}, "jct",
                    {{"pieces", "0:57572"},
                     {"jobs", "1000"},
                     {"window", "400:700"},
                     {"start", "job.size=-2.5,job.members=-3.5,pair.here=1.5"},
                     {"reference", kAreaFirst},
                     {"learning-rate", "0.1"},
                     {"population", "8"},
                     {"workloads", "2"},
                     {"generations", "4"}});
}

// Row 5: on generated workloads, all by the same search; what is minimised and the rule it begins from
// differ.
struct Objective {
  const char* reward;
  const char* start;
  const char* reference;
  const char* workload;
  const char* jobs;
  const char* window;
  const char* learning_rate = "0.1";
  const char* workloads = "4";
};
std::vector<RecipeStep> SearchFor(const Objective& objective, const Options& cluster) {
  return SearchRule(Options{{"knowledge", "oracle"}, {"workload", objective.workload}} + cluster, {},
                    objective.reward,
                    {{"jobs", objective.jobs},
                     {"window", objective.window},
                     {"start", objective.start},
                     {"reference", objective.reference},
                     {"learning-rate", objective.learning_rate},
                     {"population", "16"},
                     {"workloads", objective.workloads},
                     {"generations", "10"}});
}
// The longest first, on the types that are not slow for them.
constexpr Objective kMakespan = {"makespan",
                                 "job.size=1,pair.slowness=-4,job.members=0.5",
                                 "gavel(objective=makespan)",
                                 "synthetic(rate=0,jobs=200,gangs=multi)",
                                 "200",
                                 "0:200",
                                 "0.03",
                                 "2"};
// The longest wait for its size first, as rho has it.
constexpr Objective kFairness = {"ftf",
                                 "job.waited=2,job.size=-2,pair.slowness=-2",
                                 "gavel(objective=finish_time_fairness)",
                                 "synthetic(rate=1.2,jobs=260)",
                                 "260",
                                 "80:180"};
// ln(price / rate) but for a constant, where prices grow with the mean speed of a type: no channel shows
// them.
constexpr Objective kCheapest = {"cost",
                                 "pair.slowness=-2.5,type.speed=-6",
                                 "gavel(objective=max_throughput_per_cost)",
                                 "synthetic(rate=0.8,jobs=200)",
                                 "200",
                                 "0:200"};
// Half as much: an hour of a job costs 1 h beside the price of its GPU.
constexpr Objective kWeighted = {"jct+3600*cost", "pair.slowness=-2.5,type.speed=-3",
                                 "nash_welfare",  "synthetic(rate=0.8,jobs=200)",
                                 "200",           "0:200"};

std::vector<Recipe> Table() {
  return {
      {"hetero_oracle", "cluster", 5, Search(kOracle, "srpt", kFar)},
      {"hetero_blind", "cluster", 5, Search(kBlind, "las", kNear)},
      {"learner_ppo", "learners", 5, Learner(kPpo, {})},
      {"learner_dqn", "learners", 5, Learner(kDqn, {})},
      {"learner_reinforce", "learners", 5, Learner("reinforce", {})},
      {"lublin1_commit", "lublin", 5,
       Lublin(true, kCommit + kRules + kLong, From("request=1,gang=0.5,fits=0.8,drag=1.4,overdue=-0.5"))},
      {"lublin1_commit_easy", "lublin", 5, Lublin(true, kCommitEasy + kLookahead + kBrief, From(kExpected))},
      {"lublin1_redecide", "lublin", 5,
       Lublin(true, kRedecide + kRules,
              From("request=1,gang=0.85,wait=-0.25,overdue=0.15,fits=-0.25,delay=-0.25,drag=0.1,idled=0.1") +
                  Options{{"generations", "10"}, {"margin", "1.1"}})},
      {"lublin1_redecide_easy", "lublin", 5, Lublin(true, kRedecideEasy + kLookahead, From(kExpected))},
      {"lublin2_commit", "lublin", 5,
       Lublin(false, kCommit + kLookahead + kBrief,
              From("request=1,gang=0.6,fits=0.65,drag=1.1,overdue=-0.3,gain=-5,doubt=5"))},
      {"lublin2_commit_easy", "lublin", 5, Lublin(false, kCommitEasy + kLookahead + kBrief, From(kExpected))},
      {"lublin2_redecide", "lublin", 5,
       Lublin(false, kRedecide + kRules,
              From("request=1,gang=0.75,fits=-0.1,drag=0.45") + Options{{"generations", "15"}})},
      {"lublin2_redecide_easy", "lublin", 5, Lublin(false, kRedecideEasy + kLookahead, From(kExpected))},
      {"itp02", "real", 5, Itp("cluster02", "112", "4044")},
      {"itp03", "real", 5, Itp("cluster03", "176", "2107")},
      {"itp06", "real", 5, Itp("cluster06", "112", "1677")},
      {"philly", "real", 5, Philly()},
      {"objective_makespan", "objectives", 5, SearchFor(kMakespan, {{"cluster", "v100=12,p100=12,k80=12"}})},
      {"objective_ftf", "objectives", 5, SearchFor(kFairness, kSmall)},
      {"objective_cost", "objectives", 5, SearchFor(kCheapest, kSmall)},
      {"objective_weighted", "objectives", 5, SearchFor(kWeighted, kSmall)},
      // What each ingredient is worth, at equal budgets (ablations.cpp); the end of the name is the row of
      // the table.
      {"ablation_ppo_full", "ablations", 3, Learner(kPpo, {})},
      {"ablation_ppo_without_prices", "ablations", 3, Learner(kPpo, {{"encoder", "ObservationV1"}})},
      {"ablation_ppo_without_skip", "ablations", 3, Learner(kPpo, {{"network", "pair_scorer(width=8)"}})},
      {"ablation_ppo_with_32_units", "ablations", 3,
       Learner(kPpo, {{"network", "pair_scorer(width=32,skip=true)"}})},
      {"ablation_search_full", "ablations", 3, Search(kOracle, "srpt", kShort)},
      {"ablation_search_start_without_assignments", "ablations", 3,
       Search(kOracle, "srpt", kShort, "job.size=-1,job.members=-1,pair.regret=-5")},
      {"ablation_search_start_srpt", "ablations", 3,
       Search(kOracle, "srpt", kShort, "job.size=-1,pair.slowness=-1")},
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
