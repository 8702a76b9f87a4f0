#include "tools/evaluation_file.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "data/hdf5_file.hpp"
#include "env/base/index.hpp"
#include "tools/scenario_options.hpp"

namespace berth {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The measured jobs' tenants, by names that all workloads share; nothing where there is one tenant.
void WriteTenants(const EvaluationPlan& plan, h5::Writer& out) {
  std::vector<std::string> names;
  std::vector<std::int32_t> tenant;
  const auto number_of = [&names](const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return names.push_back(name), static_cast<std::int32_t>(names.size()) - 1;
    return static_cast<std::int32_t>(at - names.begin());
  };
  for (const Scenario& scenario : plan.workloads) {
    const std::vector<int>& of = scenario.data().jobs.tenant;
    std::vector<std::int32_t> numbers;
    for (const Tenant& each : scenario.data().tenants) numbers.push_back(number_of(each.name));
    if (numbers.empty()) numbers.push_back(number_of("default"));
    for (int job = plan.window.begin; job < plan.window.end; ++job)
      tenant.push_back(numbers[of.empty() ? 0 : U(of[U(job)])]);
  }
  if (names.size() < 2) return;
  out.Strings("tenants", names);
  out.Array<std::int32_t>("tenant", tenant,
                          {std::ssize(plan.workloads), plan.window.end - plan.window.begin});
}

void WriteWorkloads(const EvaluationPlan& plan, h5::Writer& out) {
  const Window window = plan.window;
  std::vector<double> arrival, alone, per_hour;
  std::vector<std::int32_t> gang;
  for (const Scenario& scenario : plan.workloads) {
    const JobTable& jobs = scenario.data().jobs;
    for (int job = window.begin; job < window.end; ++job) {
      arrival.push_back(jobs.arrival[U(job)]);
      gang.push_back(jobs.gang[U(job)]);
      alone.push_back(jobs.total_steps[U(job)] / scenario.BestRate(job));
    }
    const double span = jobs.size() > 1 ? jobs.arrival.back() - jobs.arrival.front() : 0.0;
    per_hour.push_back(span > 0.0 ? (jobs.size() - 1) / span * 3600.0 : kNaN);
  }
  const std::int64_t width = window.end - window.begin;
  out.Array<double>("arrival_s", arrival, {std::ssize(plan.workloads), width});
  out.Array<double>("alone_s", alone, {std::ssize(plan.workloads), width});
  out.Array<double>("arrivals_per_h", per_hour);
  out.Array<std::int32_t>("gang", gang, {std::ssize(plan.workloads), width});
  WriteTenants(plan, out);
}

void WriteTable(const std::vector<MetricColumn>& columns, const std::vector<ResultRow>& rows,
                h5::Writer& out) {
  std::vector<std::string> keys;
  for (const MetricColumn& column : columns) keys.emplace_back(column.field->key);
  std::vector<double> values;
  for (const ResultRow& row : rows) {
    const Metrics metrics = row.Combined();
    for (const MetricColumn& column : columns)
      values.push_back(column.off ? kNaN : column.field->Get(metrics));
  }
  out.Strings("table/keys", keys);
  out.Strings("table/titles", ColumnOf(columns, &MetricColumn::title));
  out.Array("table/units", ColumnOf(columns, &MetricColumn::unit));
  out.Array<std::int32_t>("table/decimals", ColumnOf(columns, &MetricColumn::decimals));
  out.Array<double>("table/values", values, {std::ssize(rows), std::ssize(columns)});
}

void WriteFigures(const EvaluationPlan& plan, const std::vector<ResultRow>& rows, h5::Writer& out) {
  const std::int64_t width = plan.window.end - plan.window.begin;
  const std::int64_t schedulers = std::ssize(rows), workloads = std::ssize(plan.workloads);
  std::vector<std::string> names, knowledge;
  std::vector<double> jct, means, intervals, ratios;
  std::vector<std::uint64_t> signatures;
  std::vector<std::uint8_t> unstable;
  std::vector<std::vector<double>> figures(Figures({}).size());
  for (const ResultRow& row : rows) {
    names.push_back(row.scheduler);
    knowledge.push_back(ToString(row.knowledge));
    unstable.push_back(row.Unstable());
    for (const RunResult& run : row.runs) {
      jct.insert(jct.end(), run.jct_s.begin(), run.jct_s.end());
      signatures.push_back(run.signature);
      std::size_t column = 0;
      for (const auto& [key, value] : Figures(run.metrics)) figures[column++].push_back(value);
    }
    const std::vector<double> of_row = row.MeanJcts();
    means.insert(means.end(), of_row.begin(), of_row.end());
    const bool one = workloads < 2;
    const Interval mean = one ? Interval{kNaN, kNaN, kNaN} : MeanJctInterval(row);
    const Interval ratio = one ? Interval{kNaN, kNaN, kNaN} : JctRatio(row, rows[0]);
    intervals.insert(intervals.end(), {mean.low, mean.high});
    ratios.insert(ratios.end(), {ratio.mean, ratio.low, ratio.high});
  }
  out.Strings("schedulers", names);
  out.Strings("knowledge", knowledge);
  out.Array("unstable", unstable);
  out.Array<double>("jct_s", jct, {schedulers, workloads, width});
  out.Array<double>("mean_jct_s", means, {schedulers, workloads});
  out.Array<double>("mean_jct_ci95_s", intervals, {schedulers, 2});
  out.Array<double>("jct_ratio", ratios, {schedulers, 3});
  out.Array<std::uint64_t>("signatures", signatures, {schedulers, workloads});
  std::size_t column = 0;
  for (const auto& [key, value] : Figures({}))
    out.Array<double>(std::string("metrics/") + key, figures[column++], {schedulers, workloads});
}

void WriteSpans(const std::vector<Recording>& recordings, h5::Writer& out) {
  std::vector<std::int32_t> scheduler, job, devices_begin, devices_count, devices;
  std::vector<double> begin, end;
  std::vector<std::uint8_t> how, marks;
  for (std::size_t k = 0; k < recordings.size(); ++k) {
    const RunRecord& record = recordings[k].first_run;
    for (const RunRecord::Span& span : record.spans) {
      scheduler.push_back(static_cast<std::int32_t>(k)), job.push_back(span.job);
      begin.push_back(span.begin_s), end.push_back(span.end_s);
      devices_begin.push_back(static_cast<std::int32_t>(devices.size()) + span.devices_begin);
      devices_count.push_back(span.devices_count);
      how.push_back(static_cast<std::uint8_t>(span.end));
      marks.push_back(span.marks);
    }
    devices.insert(devices.end(), record.devices.begin(), record.devices.end());
  }
  out.Array("recording/spans/scheduler", scheduler);
  out.Array("recording/spans/job", job);
  out.Array("recording/spans/begin_s", begin);
  out.Array("recording/spans/end_s", end);
  out.Array("recording/spans/devices_begin", devices_begin);
  out.Array("recording/spans/devices_count", devices_count);
  out.Array("recording/spans/end", how);
  out.Array("recording/spans/marks", marks);
  out.Array("recording/devices", devices);
  std::vector<std::string> ends, names;
  for (int bit = 0; bit < kNumSpanMarks; ++bit) names.emplace_back(MarkName(bit));
  out.Strings("recording/mark_names", names);
  for (int i = 0; i < kNumSpanEnds; ++i) ends.emplace_back(ToString(static_cast<SpanEnd>(i)));
  out.Strings("recording/ends", ends);
}

void WriteOutagesAndQueue(const std::vector<Recording>& recordings, h5::Writer& out) {
  std::vector<std::int32_t> scheduler, device, of, change, unseen;
  std::vector<double> begin, end, time, ends;
  std::vector<std::uint8_t> why, how;
  for (std::size_t k = 0; k < recordings.size(); ++k) {
    const RunRecord& record = recordings[k].first_run;
    const auto row = static_cast<std::int32_t>(k);
    for (const RunRecord::Outage& outage : record.outages) {
      scheduler.push_back(row), device.push_back(outage.device);
      begin.push_back(outage.begin_s), end.push_back(outage.end_s);
      why.push_back(static_cast<std::uint8_t>(outage.why));
      how.push_back(static_cast<std::uint8_t>(outage.end));
    }
    for (const auto& [times, by] : {std::pair(&record.arrive_s, 1), std::pair(&record.left_s, -1)}) {
      for (const double at : *times) {
        if (at == kNever) continue;
        of.push_back(row), time.push_back(at), change.push_back(by);
      }
    }
    ends.push_back(record.end_s);
    unseen.push_back(record.unseen_gangs);
  }
  out.Array("recording/outages/scheduler", scheduler);
  out.Array("recording/outages/device", device);
  out.Array("recording/outages/begin_s", begin);
  out.Array("recording/outages/end_s", end);
  out.Array("recording/outages/why", why);
  out.Array("recording/outages/end", how);
  std::vector<std::string> absences;
  for (int i = 0; i < kNumAbsences; ++i) absences.emplace_back(ToString(static_cast<Absence>(i)));
  out.Strings("recording/absences", absences);
  out.Array("recording/jobs_in_system/scheduler", of);
  out.Array("recording/jobs_in_system/time_s", time);
  out.Array("recording/jobs_in_system/change", change);
  out.Array("recording/end_s", ends);
  out.Array("recording/unseen_gangs", unseen);
}

void WriteFirstScenario(const Scenario& scenario, h5::Writer& out) {
  const ScenarioData& data = scenario.data();
  out.Strings("recording/types", ColumnOf(data.cluster.types, &GpuType::name));
  out.Array("recording/type_counts", ColumnOf(data.cluster.types, &GpuType::count));
  out.Strings("recording/job_types", data.throughputs.job_types);
  out.Array("recording/jobs/id", data.jobs.id);
  out.Array("recording/jobs/arrival_s", data.jobs.arrival);
  out.Array("recording/jobs/gang", data.jobs.gang);
  out.Array("recording/jobs/job_type", data.jobs.job_type);
}

void WriteRecordings(const EvaluationPlan& plan, const std::vector<ResultRow>& rows,
                     const std::vector<Recording>& recordings, h5::Writer& out) {
  std::vector<double> waits, fairness;
  std::vector<std::int64_t> counts;
  for (const Recording& recording : recordings) {
    for (const std::vector<double>& of : recording.wait_s) waits.insert(waits.end(), of.begin(), of.end());
    for (const std::vector<double>& of : recording.ftf) fairness.insert(fairness.end(), of.begin(), of.end());
    const std::vector<std::int64_t>& bins = recording.decision_times.counts();
    counts.insert(counts.end(), bins.begin(), bins.end());
  }
  const std::int64_t width = plan.window.end - plan.window.begin, schedulers = std::ssize(recordings);
  out.Array<double>("wait_s", waits, {schedulers, std::ssize(plan.workloads), width});
  out.Array<double>("ftf", fairness, {schedulers, std::ssize(plan.workloads), width});
  out.Array("decision_us/edges", DecisionTimes::EdgesUs());
  out.Array("decision_us/mean", ColumnOf(rows, &ResultRow::DecisionMicroseconds));
  out.Array("decision_us/counts", counts, {schedulers, std::ssize(counts) / schedulers});
  WriteFirstScenario(plan.workloads[0], out);
  WriteSpans(recordings, out);
  WriteOutagesAndQueue(recordings, out);
}

}  // namespace

void WriteEvaluation(const EvaluationPlan& plan, const std::vector<ResultRow>& rows,
                     const std::vector<Recording>* recordings, const EvaluationText& text,
                     const Options& options, const std::string& path) {
  h5::Writer out(path, "evaluation", kEvaluationVersion);
  out.Text("workload", text.workload);
  out.Text("scenario", ScenarioText(plan.workloads[0]));
  out.Text("semantics", text.semantics);
  out.Text("window", Join(plan.window.begin, ":", plan.window.end));
  out.Text("config", options.ResolvedIni());
  out.Text("command", text.command);
  out.Array<std::int64_t>("seeds", plan.seeds);
  WriteFigures(plan, rows, out);
  WriteTable(text.columns, rows, out);
  WriteWorkloads(plan, out);
  if (recordings != nullptr) WriteRecordings(plan, rows, *recordings, out);
  out.Commit();
}

}  // namespace berth
