// What simulate and evaluate report of runs: the same figures, names and units in tables and JSON
// (tools/FORMATS.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/sim/metrics.hpp"
#include "env/sim/scheduler.hpp"
#include "tools/json.hpp"

namespace berth {

// Every scheduler that this binary can run: the baselines, the frozen policies, and those of Python.
std::span<const SchedulerTable> AllSchedulers();

// One scheduler over one workload or more.
struct ResultRow {
  std::string scheduler;  // spec as given
  Knowledge knowledge = Knowledge::kNone;
  std::vector<RunResult> runs;  // one a workload, in seed order

  // Means over workloads, except: jobs and unfinished are sums, maxima (max_*) and end_s are the largest.
  // Figures of jobs are NaN where a workload has no finished job; the largest are of those that have one.
  Metrics Combined() const;
  double DecisionMicroseconds() const;   // mean over all decisions
  std::uint64_t Signature() const;       // of one run: its own; of several: a hash of theirs in order
  std::vector<double> MeanJcts() const;  // [workloads] s, NaN where no job finished
  bool Unstable() const;                 // KeepsUp is false: it does not, or nobody can tell
};

// Does the cluster keep up, by Metrics::backlog_growth of one run a workload? Where it does not, means say
// how long the window is. It does not where the mean growth is above kMostGrowth and its 95% interval over
// workloads above 0; of one workload alone, which has no interval, where it is above kMostGrowthOfOne. Nobody
// can tell where a growth is NaN: false.
bool KeepsUp(std::span<const double> growth);
inline constexpr double kMostGrowth = 0.05, kMostGrowthOfOne = 0.1;  // shares of the work that arrives
const char* UnstableMark();                                          // legend of † in tables
const char* UntoldMark();  // what comes behind it where a growth is NaN

// A figure of a run: its key (tools/FORMATS.md) and where it is. Those of features stand between the others.
struct MetricField {
  enum class Over : std::uint8_t { kJobs, kRun };  // of the jobs that finished there is none where none did

  const char* key;
  double Metrics::*member;  // null = of a feature
  bool maximum;             // workloads combine to the largest value instead of the mean
  Over over;
  double most = 0.0;  // MetricInfo::most

  double Get(const Metrics& metrics) const { return member != nullptr ? metrics.*member : metrics.Of(key); }
  void Set(Metrics& metrics, double value) const {
    member != nullptr ? void(metrics.*member = value) : metrics.Set(key, value);
  }
};
std::vector<MetricField> MetricFieldsOf(FeatureTable features);
std::span<const MetricField> MetricFields();  // with the features that ship

// Every figure under its key, in the order of the keys; those of jobs are NaN where none finished.
std::vector<std::pair<const char*, double>> Figures(const Metrics& metrics);

// A figure as JSON says it: ">10000" where it is infinite, beyond the most that is measured; null where there
// is none.
Json FigureJson(const MetricField& field, double value);
// The keys of one row.
Json RowJson(const ResultRow& row);
std::string HexSignature(std::uint64_t signature);  // 16 digits

}  // namespace berth
