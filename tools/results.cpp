#include "tools/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>

#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "env/sim/statistics.hpp"
#include "policies/schedulers.hpp"
#include "tools/python_schedulers.hpp"

namespace berth {
namespace {

using Over = MetricField::Over;
constexpr MetricField kJobFields[] = {
    {"mean_jct_s", &Metrics::mean_jct_s, false, Over::kJobs},
    {"p50_jct_s", &Metrics::p50_jct_s, false, Over::kJobs},
    {"p95_jct_s", &Metrics::p95_jct_s, false, Over::kJobs},
    {"p99_jct_s", &Metrics::p99_jct_s, false, Over::kJobs},
    {"max_jct_s", &Metrics::max_jct_s, true, Over::kJobs},
    {"makespan_s", &Metrics::makespan_s, false, Over::kJobs},
    {"utilization", &Metrics::utilization, false, Over::kRun},
    {"mean_slowdown", &Metrics::mean_slowdown, false, Over::kJobs},
    {"p99_slowdown", &Metrics::p99_slowdown, false, Over::kJobs},
    {"mean_wait_s", &Metrics::mean_wait_s, false, Over::kJobs},
    {"p99_wait_s", &Metrics::p99_wait_s, false, Over::kJobs},
    {"max_wait_s", &Metrics::max_wait_s, true, Over::kJobs},
    {"mean_ftf", &Metrics::mean_ftf, false, Over::kJobs},
    {"max_ftf", &Metrics::max_ftf, true, Over::kJobs},
    {"jain", &Metrics::jain, false, Over::kJobs},
    {"deadline_miss_rate", &Metrics::deadline_miss_rate, false, Over::kRun},
    {"throughput_per_h", &Metrics::throughput_per_h, false, Over::kRun},
    {"cost", &Metrics::cost, false, Over::kRun},
    {"energy_kwh", &Metrics::energy_kwh, false, Over::kRun},
    {"preemptions_per_job", &Metrics::preemptions_per_job, false, Over::kJobs},
    {"interruptions_per_job", &Metrics::interruptions_per_job, false, Over::kJobs},
    {"lost_work_h", &Metrics::lost_work_h, false, Over::kJobs},
};
constexpr MetricField kQueue[] = {
    {"mean_jobs_in_system", &Metrics::mean_jobs_in_system, false, Over::kRun},
    {"backlog_jobs", &Metrics::backlog_jobs, false, Over::kRun},
    {"backlog_gpu_h", &Metrics::backlog_gpu_h, false, Over::kRun},
    {"backlog_growth", &Metrics::backlog_growth, false, Over::kRun},
    {"open_at_end", &Metrics::open_at_end, false, Over::kRun},
    {"censored_jct_s", &Metrics::censored_jct_s, false, Over::kRun},
};
constexpr MetricField kEnd[] = {
    {"end_s", &Metrics::end_s, true, Over::kRun},
    {"hpc_bounded_slowdown", &Metrics::hpc_bounded_slowdown, false, Over::kJobs},
    {"hpc_wait_s", &Metrics::hpc_wait_s, false, Over::kJobs},
    {"hpc_turnaround_s", &Metrics::hpc_turnaround_s, false, Over::kJobs},
    {"hpc_slowdown", &Metrics::hpc_slowdown, false, Over::kJobs},
    {"hpc_utilization", &Metrics::hpc_utilization, false, Over::kJobs},
};

// NaN, not the 0 that Metrics begins with: a scheduler that finishes nothing is not the fastest.
double Value(const Metrics& metrics, const MetricField& field) {
  const bool none = field.over == Over::kJobs && metrics.jobs == 0;
  return none ? std::numeric_limits<double>::quiet_NaN() : field.Get(metrics);
}

}  // namespace

std::span<const SchedulerTable> AllSchedulers() {
  static const std::array<SchedulerTable, 3> tables{BaselineSchedulers(), PolicySchedulers(),
                                                    PythonSchedulers()};
  return tables;
}

// The figures of this file with those of features between.
std::vector<MetricField> MetricFieldsOf(FeatureTable features) {
  std::vector<MetricField> fields;
  const auto add = [&](std::span<const MetricField> own, MetricInfo::Place place) {
    fields.insert(fields.end(), own.begin(), own.end());
    for (const FeatureModule& feature : features) {
      for (const MetricInfo& metric : feature.metrics) {
        if (metric.place == place)
          fields.push_back(
              {metric.key, nullptr, metric.maximum, metric.of_jobs ? Over::kJobs : Over::kRun, metric.most});
      }
    }
  };
  add(kJobFields, MetricInfo::Place::kJobs);
  add(kQueue, MetricInfo::Place::kQueue);
  add(kEnd, MetricInfo::Place::kEnd);
  return fields;
}

std::span<const MetricField> MetricFields() {
  static const std::vector<MetricField> kFields = MetricFieldsOf(ShippedFeatures());
  return kFields;
}

Metrics ResultRow::Combined() const {
  Metrics combined;
  for (const RunResult& run : runs) {
    combined.jobs += run.metrics.jobs;
    combined.unfinished += run.metrics.unfinished;
    for (const MetricField& field : MetricFields()) {
      const double into = field.Get(combined);
      const double value = Value(run.metrics, field);  // std::max keeps `into` where it is NaN
      field.Set(combined,
                field.maximum ? std::max(into, value) : into + value / static_cast<double>(runs.size()));
    }
  }
  for (const MetricField& field : MetricFields()) field.Set(combined, Value(combined, field));
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
  for (const RunResult& run : runs) means.push_back(Value(run.metrics, kJobFields[0]));
  return means;
}

bool ResultRow::Unstable() const {
  std::vector<double> growth;
  for (const RunResult& run : runs) growth.push_back(run.metrics.backlog_growth);
  return !KeepsUp(growth);
}

bool KeepsUp(std::span<const double> growth) {
  if (std::any_of(growth.begin(), growth.end(), [](double one) { return std::isnan(one); })) return false;
  if (growth.size() < 2) return growth.empty() || growth[0] <= kMostGrowthOfOne;
  const Interval interval = BootstrapMean(growth, /*seed=*/0);
  return interval.mean <= kMostGrowth || interval.low <= 0.0;
}

const char* UnstableMark() {
  return "†: the cluster does not keep up under this scheduler: late work grew by more than 5% of the work "
         "that "
         "arrived, so its means depend on which jobs are measured and are not to be averaged or compared";
}

const char* UntoldMark() {
  return "† too where nobody can tell, since a run ended before its last measured job arrived";
}

std::vector<std::pair<const char*, double>> Figures(const Metrics& metrics) {
  std::vector<std::pair<const char*, double>> figures;
  for (const MetricField& field : MetricFields()) figures.emplace_back(field.key, Value(metrics, field));
  return figures;
}

Json FigureJson(const MetricField& field, double value) {
  if (std::isinf(value) && field.most > 0.0) return Join(">", static_cast<int>(field.most));
  return value;
}

Json RowJson(const ResultRow& row) {
  const Metrics metrics = row.Combined();
  Json json;
  json["scheduler"] = row.scheduler;
  json["knowledge"] = ToString(row.knowledge);
  json["jobs"] = metrics.jobs;
  json["unfinished"] = metrics.unfinished;
  json["unstable"] = row.Unstable();
  for (const MetricField& field : MetricFields()) json[field.key] = FigureJson(field, Value(metrics, field));
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
