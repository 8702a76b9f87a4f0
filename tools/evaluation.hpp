// Several schedulers on the same workloads (common random numbers), on several threads; the results are the
// same on any number of them, wall times apart.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/gym/scenario_source.hpp"
#include "env/sim/statistics.hpp"
#include "tools/report/recording.hpp"
#include "tools/results.hpp"

namespace berth {

struct Refusal {
  std::string scheduler, reason;
};

// A scheduler by its spec, a new one each time. Thread rule: any number of threads at once.
using MakeSchedulerOf = std::function<std::unique_ptr<Scheduler>(const std::string& spec)>;

struct EvaluationPlan {
  std::vector<std::string> schedulers;  // specs, at least one
  MakeSchedulerOf make = [](const std::string& spec) { return MakeScheduler(spec, AllSchedulers()); };
  std::vector<Refusal> refused;     // registered schedulers that `all` stands for and that cannot run
  std::vector<Scenario> workloads;  // at least one; one clock for all
  std::vector<std::int64_t> seeds;  // [workloads]
  Window window;
  double max_time_s = kNever;  // of each run
  int threads = 1;
  // Asked now and then, on any thread of the team: what it throws ends the evaluation.
  std::function<void()> check = {};
  // What it is a part of, such as "cell 3 (rate=0.2)"; then it does not say how far it is.
  std::string part_of;
  const std::atomic<bool>* stop = nullptr;  // becomes true: no rows come back
};

inline constexpr const char* kAllSchedulers = "all";
// Puts in the place of a spec `all` every registered scheduler, with its default parameters, that can run
// all of the plan's workloads and is not named already, those that know less first.
void ExpandAll(EvaluationPlan& plan);

// The rows of the plan before anything has run. Throws Error for a scheduler that cannot run one of the
// workloads.
std::vector<ResultRow> EmptyRows(const EvaluationPlan& plan);

// One row a scheduler, in the order of the plan; none where it was stopped. Throws what the first run in that
// order throws. What `recordings` asks for costs memory and a little time: a recording a row.
std::vector<ResultRow> Evaluate(const EvaluationPlan& plan, std::vector<Recording>* recordings = nullptr);

// [workloads] Of one figure, NaN where it is of jobs and none finished.
std::vector<double> Values(const ResultRow& row, const MetricField& field);
// Over two workloads or more; seeded, so that a repetition gives the same interval. NaN where a workload has
// no finished job.
Interval MetricInterval(const ResultRow& row, const MetricField& field);  // of one figure
// `mean`, that of Combined, with those bounds; NaN for a single workload and for largest values.
Interval MetricInterval(const ResultRow& row, const MetricField& field, double mean);
Interval MeanJctInterval(const ResultRow& row);
Interval JctRatio(const ResultRow& row, const ResultRow& reference);  // paired, of means

}  // namespace berth
