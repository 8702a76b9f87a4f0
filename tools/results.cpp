#include "tools/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "baselines/schedulers.hpp"
#include "env/check.hpp"
#include "env/features/request_queue.hpp"
#include "policies/schedulers.hpp"

namespace berth {
namespace {

struct Field {
  const char* key;
  double Metrics::*member;
  bool maximum;  // combine workloads by their largest value instead of the mean
};

constexpr Field kFields[] = {
    {"mean_jct_s", &Metrics::mean_jct_s, false},
    {"p50_jct_s", &Metrics::p50_jct_s, false},
    {"p95_jct_s", &Metrics::p95_jct_s, false},
    {"p99_jct_s", &Metrics::p99_jct_s, false},
    {"max_jct_s", &Metrics::max_jct_s, true},
    {"makespan_s", &Metrics::makespan_s, false},
    {"utilization", &Metrics::utilization, false},
    {"mean_slowdown", &Metrics::mean_slowdown, false},
    {"p99_slowdown", &Metrics::p99_slowdown, false},
    {"mean_wait_s", &Metrics::mean_wait_s, false},
    {"p99_wait_s", &Metrics::p99_wait_s, false},
    {"max_wait_s", &Metrics::max_wait_s, true},
    {"mean_ftf", &Metrics::mean_ftf, false},
    {"max_ftf", &Metrics::max_ftf, true},
    {"jain", &Metrics::jain, false},
    {"deadline_miss_rate", &Metrics::deadline_miss_rate, false},
    {"throughput_per_h", &Metrics::throughput_per_h, false},
    {"cost", &Metrics::cost, false},
    {"energy_kwh", &Metrics::energy_kwh, false},
    {"preemptions_per_job", &Metrics::preemptions_per_job, false},
    {"interruptions_per_job", &Metrics::interruptions_per_job, false},
    {"lost_work_h", &Metrics::lost_work_h, false},
    {"dropped_entries", &Metrics::dropped_entries, false},
    {"service_p50_s", &Metrics::service_p50_s, false},
    {"service_p95_s", &Metrics::service_p95_s, false},
    {"service_p99_s", &Metrics::service_p99_s, false},
    {"service_goodput_per_s", &Metrics::service_goodput_per_s, false},
    {"service_attainment", &Metrics::service_attainment, false},
    {"service_gpu_hours", &Metrics::service_gpu_hours, false},
    {"mean_jobs_in_system", &Metrics::mean_jobs_in_system, false},
    {"fragmentation", &Metrics::fragmentation, false},
    {"spread_starts", &Metrics::spread_starts, false},
    {"unplaced_orders", &Metrics::unplaced_orders, false},
    {"end_s", &Metrics::end_s, true},
    {"hpc_bounded_slowdown", &Metrics::hpc_bounded_slowdown, false},
    {"hpc_wait_s", &Metrics::hpc_wait_s, false},
    {"hpc_turnaround_s", &Metrics::hpc_turnaround_s, false},
    {"hpc_slowdown", &Metrics::hpc_slowdown, false},
    {"hpc_utilization", &Metrics::hpc_utilization, false},
};

}  // namespace

std::span<const SchedulerTable> AllSchedulers() {
  static const std::array<SchedulerTable, 2> tables{BaselineSchedulers(), PolicySchedulers()};
  return tables;
}

Metrics ResultRow::Combined() const {
  Metrics combined;
  for (const RunResult& run : runs) {
    combined.jobs += run.metrics.jobs;
    combined.unfinished += run.metrics.unfinished;
    for (const Field& field : kFields) {
      double& into = combined.*field.member;
      const double value = run.metrics.*field.member;
      into = field.maximum ? std::max(into, value) : into + value / static_cast<double>(runs.size());
    }
  }
  return combined;
}

double ResultRow::DecisionMicroseconds() const {
  double total = 0.0, decisions = 0.0;
  for (const RunResult& run : runs) {
    total += run.decision_us_mean * static_cast<double>(run.decisions);
    decisions += static_cast<double>(run.decisions);
  }
  return decisions > 0.0 ? total / decisions : 0.0;
}

std::uint64_t ResultRow::Signature() const {
  if (runs.size() == 1) return runs[0].signature;
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a over the runs' signatures
  for (const RunResult& run : runs) {
    for (int byte = 0; byte < 8; ++byte) {
      hash = (hash ^ (run.signature >> (8 * byte) & 0xff)) * 0x100000001b3ULL;
    }
  }
  return hash;
}

std::vector<double> ResultRow::MeanJcts() const {
  std::vector<double> means;
  for (const RunResult& run : runs) means.push_back(run.metrics.mean_jct_s);
  return means;
}

std::vector<std::pair<const char*, double>> Figures(const Metrics& metrics) {
  std::vector<std::pair<const char*, double>> figures;
  for (const Field& field : kFields) figures.emplace_back(field.key, metrics.*field.member);
  return figures;
}

Json RowJson(const ResultRow& row) {
  const Metrics metrics = row.Combined();
  Json json;
  json["scheduler"] = row.scheduler;
  json["knowledge"] = ToString(row.knowledge);
  json["jobs"] = metrics.jobs;
  json["unfinished"] = metrics.unfinished;
  for (const auto& [key, value] : Figures(metrics)) {
    // A latency beyond what is told apart, which numbers of JSON cannot say.
    if (std::isinf(value) && std::string_view(key).starts_with("service_p")) {
      json[key] = Join(">", static_cast<int>(kLongestLatency));
    } else {
      json[key] = value;
    }
  }
  std::int64_t decisions = 0;
  double p99 = 0.0, wall = 0.0;
  for (const RunResult& run : row.runs) {
    decisions += run.decisions, wall += run.wall_s;
    p99 = std::max(p99, run.decision_us_p99);
  }
  json["decisions"] = decisions;
  json["decision_us_mean"] = row.DecisionMicroseconds();
  json["decision_us_p99"] = p99;
  json["wall_s"] = wall;
  json["signature"] = HexSignature(row.Signature());
  return json;
}

std::string HexSignature(std::uint64_t signature) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(signature));
  return text;
}

}  // namespace berth
