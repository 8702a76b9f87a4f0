// What an evaluation is, from options: `berth evaluate` and the Python package's berth.evaluate ask by the
// same names and give the same figures.
#pragma once

#include <span>

#include "tools/evaluation.hpp"
#include "tools/json.hpp"
#include "tools/scenario_options.hpp"

namespace berth {

// --schedulers, those of AddScenarioOptions, --seeds, --window, --max-time, --threads.
void AddEvaluationPlan(Options& options);
int Threads(const Options& options);  // --threads
// Words as Options::Parse takes them: where one of `names` has several words behind it, or is given again,
// they become one text between ';'. So `--schedulers fcfs srpt` is `--schedulers 'fcfs;srpt'`.
std::vector<std::string> JoinLists(const std::vector<std::string>& arguments,
                                   const std::vector<std::string>& names);

// Where no jobs are named, those of the default workload with its window, whatever the cluster is: for verbs
// that compare clusters. (MakeEvaluationPlan alone takes others where the cluster is too small for them.)
void FixDefaultJobs(Options& options);

// The plan that they ask for of `workload`; schedulers come from `make`, where it is given. Throws Error
// naming the option. Writes what was resolved back into `options`.
EvaluationPlan MakeEvaluationPlan(Options& options, const WorkloadChoice& workload,
                                  const MakeSchedulerOf& make = {});

// `schedulers` of the JSON (tools/FORMATS.md): a row a scheduler, ratios to the first. `seeds` of the
// workloads, in the order of the rows' runs.
Json EvaluationJson(std::span<const std::int64_t> seeds, const std::vector<ResultRow>& rows);

// --scheduler, those of AddScenarioOptions, --seed, --window, --max-time.
void AddSimulationPlan(Options& options);

struct SimulationPlan {
  std::string name;  // spec
  std::unique_ptr<Scheduler> scheduler;
  std::shared_ptr<const ScenarioSource> source;
  std::uint64_t seed = 0;
  Scenario scenario;
  RunOptions run;  // window and max_time_s alone
};
// As MakeEvaluationPlan; of `source`, where it is given, in the place of the options' workload.
SimulationPlan MakeSimulationPlan(Options& options, const MakeSchedulerOf& make = {},
                                  std::shared_ptr<const ScenarioSource> source = nullptr);

}  // namespace berth
