// Row 1: clusters of 24 GPUs, single jobs at four loads, gangs among many GPUs of a type and among few. A
// gang of 8 is a third of 20 V100s, as it is of 36, but all of 8.
#include "tools/reproduce/learned/recipe_tables.hpp"

namespace berth::recipes {
namespace {

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
std::vector<RecipeStep> SearchCluster(const Options& knowledge, const char* reference, const Effort& effort,
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

// As the page's every seed of "many clusters" (gradient/training_sets.cpp); what is validated is not chosen
// from.
std::vector<RecipeStep> ClusterByGradient(const Options& more) {
  return Train(Options{{"recipe", "many_clusters"}} + more + Options{{"validate", "0"}});
}

// The agents' own defaults, at equal steps.
std::vector<RecipeStep> Learner(const char* agent) {
  return Train({{"recipe", "many_clusters"}, {"agent", agent}, {"steps", "500000"}});
}

}  // namespace

std::vector<Recipe> Cluster() {
  return {
      {"hetero_oracle", "cluster", 5, SearchCluster(kOracle, "srpt", kFar)},
      {"hetero_blind", "cluster", 5, SearchCluster(kBlind, "las", kNear)},
      {"hetero_oracle_gradient", "cluster", 5, ClusterByGradient({{"steps", "20000000"}})},
      {"hetero_blind_gradient", "cluster", 5,
       ClusterByGradient({{"knowledge", "blind"}, {"steps", "20000000"}})},
      {"learner_ppo", "learners", 5, Learner("ppo")},
      {"learner_dqn", "learners", 5, Learner("dqn")},
      {"learner_reinforce", "learners", 5, Learner("reinforce")},
      // What each ingredient is worth, at equal budgets (ablations.cpp); the end of the name is the row of
      // the table.
      {"ablation_search_full", "ablations", 3, SearchCluster(kOracle, "srpt", kShort)},
      {"ablation_search_start_without_assignments", "ablations", 3,
       SearchCluster(kOracle, "srpt", kShort, "job.size=-1,job.members=-1,pair.regret=-5")},
      {"ablation_search_start_srpt", "ablations", 3,
       SearchCluster(kOracle, "srpt", kShort, "job.size=-1,pair.slowness=-1")},
  };
}

}  // namespace berth::recipes
