// What simulate and evaluate report of runs: the same figures, names and units in tables and JSON
// (tools/README.md).
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

// Every scheduler that this binary can run: the baselines and the frozen policies.
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
};

// Every figure of a run under its key (tools/README.md), in the order of the keys; those of jobs are NaN
// where none finished.
std::vector<std::pair<const char*, double>> Figures(const Metrics& metrics);

// The same figures where they stand.
struct MetricKey {
  const char* name;
  double Metrics::*member;
};
std::vector<MetricKey> MetricKeys();

// The keys of one row.
Json RowJson(const ResultRow& row);
std::string HexSignature(std::uint64_t signature);  // 16 digits

}  // namespace berth
