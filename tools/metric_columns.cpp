#include "tools/metric_columns.hpp"

#include <algorithm>
#include <string_view>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/sim/feature.hpp"
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
    {"jct", "mean_jct_s", "mean JCT h", kHour, 2},
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
    {"cost", "cost", "cost", 1.0, 2},
    {"energy", "energy_kwh", "energy kWh", 1.0, 1},
    {"preemptions", "preemptions_per_job", "preemptions", 1.0, 2},
    {"interruptions", "interruptions_per_job", "interruptions", 1.0, 2},
    {"lost_work", "lost_work_h", "lost work h", 1.0, 2},
};
constexpr const char* kUsual = "p50,p99,slowdown,wait_p99,wait_max,util,makespan,backlog,open";
constexpr const char* kBesides[] = {"ftf", "jain", "preemptions", "energy", "cost"};  // a page has room

const MetricField& FieldOf(std::string_view key) {
  const std::span<const MetricField> all = MetricFields();
  return *std::find_if(all.begin(), all.end(), [&](const MetricField& field) { return key == field.key; });
}

// "mean_jct_h" of mean_jct_s; another key as it is.
std::string InHours(std::string_view key) {
  return key.ends_with("_s") && !key.ends_with("per_s") ? Join(key.substr(0, key.size() - 1), "h")
                                                        : std::string(key);
}

// How many of the workloads have the feature on that adds the figure.
std::ptrdiff_t Owners(std::string_view key, std::span<const Scenario> workloads) {
  return std::count_if(workloads.begin(), workloads.end(), [key](const Scenario& scenario) {
    const std::span<const Features::On> on = scenario.data().features.on();
    return std::any_of(on.begin(), on.end(), [key](const Features::On& feature) {
      return std::any_of(feature.module->metrics.begin(), feature.module->metrics.end(),
                         [key](const MetricInfo& metric) { return key == metric.key; });
    });
  });
}

// Features are of the settings, which all workloads share.
bool KnowsEnergy(std::span<const Scenario> workloads) {
  if (workloads.empty()) return false;
  const std::span<const Features::On> on = workloads.front().data().features.on();
  return std::any_of(on.begin(), on.end(), [&](const Features::On& feature) {
    return (feature.settings->MakeState(workloads.front())->Listens() & BitOf(Hook::kEnergyJ)) != 0;
  });
}

}  // namespace

bool HaveDeadlines(std::span<const Scenario> workloads) {
  return std::any_of(workloads.begin(), workloads.end(), [](const Scenario& scenario) {
    const std::vector<double>& deadlines = scenario.data().jobs.deadline;
    return std::any_of(deadlines.begin(), deadlines.end(),
                       [](double deadline) { return deadline != kNever; });
  });
}

std::string MetricColumn::Cell(const Metrics& metrics) const {
  return off ? "-" : Fixed(field->Get(metrics) / unit, decimals);
}

MetricColumn NamedMetric(const std::string& name) {
  std::vector<std::string> known;
  for (const Named& named : kNamed) known.emplace_back(named.name);
  for (const MetricField& field : MetricFields()) {
    known.emplace_back(field.key);
    if (InHours(field.key) != field.key) known.push_back(InHours(field.key));
  }
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error(Join("expected names of figures, found '", name, "'", DidYouMean(name, known), "; there are ",
                     MetricNames(), ", and the keys that figures have in --json"));
  for (const Named& named : kNamed) {
    if (name == named.name) return {&FieldOf(named.key), named.title, named.unit, named.decimals};
  }
  for (const MetricField& field : MetricFields()) {
    if (InHours(field.key) == name && name != field.key) return {&field, name, kHour};
  }
  return {&FieldOf(name), name};
}

bool MoreIsBetter(const MetricField& field) {
  constexpr std::string_view kMore[] = {"utilization",     "throughput_per_h",      "jain",
                                        "hpc_utilization", "service_goodput_per_s", "service_attainment"};
  return std::find(std::begin(kMore), std::end(kMore), field.key) != std::end(kMore);
}

std::vector<MetricColumn> MetricColumns(const std::string& names, std::span<const Scenario> workloads) {
  std::vector<MetricColumn> columns;
  if (names.find_first_not_of(", ") == std::string::npos)
    throw Error(Join("expected names of figures, found none; there are ", MetricNames()));
  for (const std::string& name : SplitOutsideParentheses(names, ',')) {
    MetricColumn column = NamedMetric(name);
    if (column.field == &FieldOf("mean_jct_s")) continue;
    // A table shows what it has a heading for in the unit of people.
    const auto named = std::find_if(std::begin(kNamed), std::end(kNamed), [&](const Named& row) {
      return column.field->key == std::string_view(row.key);
    });
    if (named != std::end(kNamed))
      column.title = named->title, column.unit = named->unit, column.decimals = named->decimals;
    column.off = (column.field->member == nullptr && Owners(column.field->key, workloads) == 0) ||
                 (column.field->member == &Metrics::deadline_miss_rate && !workloads.empty() &&
                  !HaveDeadlines(workloads));
    for (const MetricColumn& other : columns) {
      if (other.field == column.field)
        throw Error(Join("expected each figure once, found '", name, "' again"));
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string MetricsOfFeatures(std::span<const Scenario> workloads) {
  std::string names;
  const auto add = [&names](std::string_view name) { names += Join(names.empty() ? "" : ",", name); };
  if (HaveDeadlines(workloads)) add("deadline_misses");
  if (KnowsEnergy(workloads)) add("energy,cost");
  for (const MetricField& field : MetricFields()) {
    if (field.member == nullptr && Owners(field.key, workloads) > 0) add(field.key);
  }
  return names;
}

std::string UsualMetrics(std::span<const Scenario> workloads) {
  const std::string more = MetricsOfFeatures(workloads);
  return more.empty() ? kUsual : Join(kUsual, ",", more);
}

std::string PageMetrics(std::span<const Scenario> workloads) {
  std::string names = UsualMetrics(workloads);
  const std::vector<std::string> usual = SplitOutsideParentheses(names, ',');
  for (const char* more : kBesides) {
    if (std::find(usual.begin(), usual.end(), more) == usual.end()) names += Join(",", more);
  }
  return names;
}

std::string MetricNames() {
  std::string names;
  for (const Named& named : kNamed) names += Join(names.empty() ? "" : ", ", named.name);
  return names;
}

}  // namespace berth
