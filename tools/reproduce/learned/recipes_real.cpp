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
constexpr const char* kMeanAndDeadlines = "jct+18000*deadline";
struct Itp {
  const char *file, *gpus, *jobs;
  Options Log() const {
    return {{"scenario", Join(kPlace, "/microsoft-itp-elasticflow/elasticflow-traces.tar.gz:", file, ".csv")},
            {"format", "itp"},
            {"cluster", Join("p100=", gpus)}};
  }
};
constexpr Itp kItp02 = {"cluster02", "112", "0:4044"}, kItp03 = {"cluster03", "176", "0:2107"},
              kItp06 = {"cluster06", "112", "0:1677"};
std::vector<RecipeStep> SearchItp(const Itp& itp) {
  return SearchRule(itp.Log(), {{"jobs", itp.jobs}}, kMeanAndDeadlines,
                    {{"pieces", itp.jobs},
                     {"jobs", "400"},
                     {"window", "80:300"},
                     {"start", "job.size=-2.5,job.members=-2,job.slack=1.5,pair.here=1"},
                     {"reference", kAreaFirst},
                     {"learning-rate", "0.1"},
                     {"population", "12"},
                     {"workloads", "4"},
                     {"generations", "8"}});
}
std::vector<RecipeStep> ItpByGradient(const Itp& itp) {
  return Train(itp.Log() + Options{{"jobs", itp.jobs}, {"reward", kMeanAndDeadlines}, {"steps", "2000000"}});
}
// Fewer GPUs than real.cpp tests on: a piece begins on an empty cluster and would leave 512 nearly idle.
const Options kPhilly = {{"scenario", Join(kPlace, "/philly/philly_sorted.csv.gz")},
                         {"format", "philly"},
                         {"cluster", "p100=192/8"}};
constexpr const char* kPhillyJobs = "0:57572";
std::vector<RecipeStep> SearchPhilly() {
  return SearchRule(kPhilly, {{"jobs", kPhillyJobs}}, "jct",
                    {{"pieces", kPhillyJobs},
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
      {"itp02", "real", 5, SearchItp(kItp02)},
      {"itp03", "real", 5, SearchItp(kItp03)},
      {"itp06", "real", 5, SearchItp(kItp06)},
      {"philly", "real", 5, SearchPhilly()},
      {"itp02_gradient", "real", 3, ItpByGradient(kItp02)},
      {"itp03_gradient", "real", 3, ItpByGradient(kItp03)},
      {"itp06_gradient", "real", 3, ItpByGradient(kItp06)},
      {"philly_gradient", "real", 3, Train(kPhilly + Options{{"jobs", kPhillyJobs}, {"steps", "2000000"}})},
  };
}

}  // namespace berth::recipes
