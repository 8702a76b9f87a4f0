#include "tools/metric_columns.hpp"

#include <algorithm>
#include <string_view>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

struct Named {
  const char *name, *key, *title;
  double unit;
  int decimals;
};
constexpr double kHour = 3600.0, kPercent = 0.01;
constexpr Named kNamed[] = {
    {"jct", "mean_jct_s", "", kHour, 2},
    {"p50", "p50_jct_s", "p50 h", kHour, 2},
    {"p95", "p95_jct_s", "p95 h", kHour, 2},
    {"p99", "p99_jct_s", "p99 h", kHour, 2},
    {"jct_max", "max_jct_s", "max h", kHour, 2},
    {"slowdown", "mean_slowdown", "slowdown", 1.0, 2},
    {"slowdown_p99", "p99_slowdown", "p99 slowdown", 1.0, 2},
    {"wait", "mean_wait_s", "wait h", kHour, 2},
    {"wait_p99", "p99_wait_s", "p99 wait h", kHour, 2},
    {"wait_max", "max_wait_s", "max wait h", kHour, 2},
    {"util", "utilization", "util %", kPercent, 1},
    {"makespan", "makespan_s", "makespan h", kHour, 2},
    {"throughput", "throughput_per_h", "jobs/h", 1.0, 2},
    {"backlog", "backlog_jobs", "backlog", 1.0, 0},
    {"open", "open_at_end", "open %", kPercent, 1},
    {"ftf", "max_ftf", "max rho", 1.0, 2},
    {"ftf_mean", "mean_ftf", "mean rho", 1.0, 2},
    {"jain", "jain", "Jain", 1.0, 3},
    {"deadline_misses", "deadline_miss_rate", "missed %", kPercent, 1},
    {"cost", "cost", "cost", 1.0, 0},
    {"energy", "energy_kwh", "energy kWh", 1.0, 1},
    {"preemptions", "preemptions_per_job", "preemptions", 1.0, 2},
    {"interruptions", "interruptions_per_job", "interruptions", 1.0, 2},
    {"lost_work", "lost_work_h", "lost work h", 1.0, 2},
};
constexpr const char* kUsual = "p50,p99,slowdown,wait_p99,wait_max,util,makespan,backlog,open";

const MetricField& FieldOf(std::string_view key) {
  const std::span<const MetricField> all = MetricFields();
  return *std::find_if(all.begin(), all.end(), [&](const MetricField& field) { return key == field.key; });
}

}  // namespace

std::string MetricColumn::Cell(const Metrics& metrics) const {
  return Fixed(field->Get(metrics) / unit, decimals);
}

std::vector<MetricColumn> MetricColumns(const std::string& names) {
  std::vector<std::string> known;
  for (const Named& named : kNamed) known.emplace_back(named.name);
  for (const MetricField& field : MetricFields()) known.emplace_back(field.key);
  std::vector<MetricColumn> columns;
  for (const std::string& name : SplitOutsideParentheses(names, ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(Join("expected names of figures, found '", name, "'", DidYouMean(name, known)));
    const auto named = std::find_if(std::begin(kNamed), std::end(kNamed), [&name](const Named& row) {
      return name == row.name || name == row.key;
    });
    if (named == std::end(kNamed)) {
      const MetricField& field = FieldOf(name);
      columns.push_back({&field, field.key});
    } else if (*named->title != '\0') {
      columns.push_back({&FieldOf(named->key), named->title, named->unit, named->decimals});
    }
  }
  return columns;
}

std::string UsualMetrics(const Scenario& scenario) {
  std::string names = kUsual;
  if (!scenario.data().jobs.deadline.empty()) names += ",deadline_misses";
  for (const Features::On& on : scenario.data().features.on()) {
    if (std::string_view(on.module->name) == "power") names += ",energy,cost";
    for (const MetricInfo& metric : on.module->metrics) names += Join(",", metric.key);
  }
  return names;
}

std::string MetricNames() {
  std::string names;
  for (const Named& named : kNamed) names += Join(names.empty() ? "" : ", ", named.name);
  return names;
}

}  // namespace berth
