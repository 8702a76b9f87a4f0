#include "tools/reproduce/learned/recipe_tables.hpp"

namespace berth::recipes {
namespace {

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

// The same by gradient: the agent's defaults on workloads as large as its episodes ask for.
std::vector<RecipeStep> TrainFor(const char* reward, const char* workload, const Options& cluster) {
  return Train(Options{{"workload", workload}} + cluster + Options{{"reward", reward}});
}
constexpr const char* kLight = "synthetic(rate=0.8,jobs=300)";

}  // namespace

std::vector<Recipe> Objectives() {
  return {
      {"objective_makespan", "objectives", 5, SearchFor(kMakespan, {{"cluster", "v100=12,p100=12,k80=12"}})},
      {"objective_ftf", "objectives", 5, SearchFor(kFairness, kSmall)},
      {"objective_cost", "objectives", 5, SearchFor(kCheapest, kSmall)},
      {"objective_weighted", "objectives", 5, SearchFor(kWeighted, kSmall)},
      {"objective_makespan_gradient", "objectives", 3,
       TrainFor("makespan", "synthetic(rate=0,jobs=300,gangs=multi)", {{"steps", "3000000"}})},
      // The largest rho is paid once an episode, from which nothing is learned: the mean slowdown in its place.
      {"objective_ftf_gradient", "objectives", 3, TrainFor("slowdown", "synthetic(rate=1.2)", kSmall)},
      {"objective_cost_gradient", "objectives", 3, TrainFor("cost", kLight, kSmall)},
      {"objective_weighted_gradient", "objectives", 3, TrainFor("jct+3600*cost", kLight, kSmall)},
  };
}

}  // namespace berth::recipes
