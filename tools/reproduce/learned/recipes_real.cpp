#include "tools/reproduce/learned/recipe_tables.hpp"

namespace berth::recipes {

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

namespace {

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

}  // namespace

std::vector<Recipe> Real() {
  return {
      {"itp02", "real", 5, Itp("cluster02", "112", "4044")},
      {"itp03", "real", 5, Itp("cluster03", "176", "2107")},
      {"itp06", "real", 5, Itp("cluster06", "112", "1677")},
      {"philly", "real", 5, Philly()},
  };
}

}  // namespace berth::recipes
