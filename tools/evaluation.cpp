#include "tools/evaluation.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>

#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/thread_team.hpp"
#include "tools/progress.hpp"

namespace berth {
namespace {

constexpr std::uint64_t kBootstrapSeed = 0;
constexpr std::int64_t kShowEvery = 64;  // decisions

// Of the window's jobs, from a log that was kept.
std::vector<double> Waits(const RunResult& result, const Scenario& scenario, Window window) {
  const std::vector<double> first = FirstStarts(result.events, scenario.num_jobs());
  std::vector<double> waits;
  for (int job = window.begin; job < window.end; ++job) {
    const double start = first[U(job)];
    waits.push_back(start == kNever ? std::numeric_limits<double>::quiet_NaN()
                                    : start - scenario.data().jobs.arrival[U(job)]);
  }
  return waits;
}

constexpr double kNoBound = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void ExpandAll(EvaluationPlan& plan) {
  const auto all = std::find(plan.schedulers.begin(), plan.schedulers.end(), kAllSchedulers);
  if (all == plan.schedulers.end()) return;
  std::vector<std::pair<Knowledge, std::string>> found;
  for (const SchedulerTable& table : AllSchedulers()) {
    for (const SchedulerInfo& info : table) {
      if (std::find(plan.schedulers.begin(), plan.schedulers.end(), info.name) != plan.schedulers.end())
        continue;
      try {
        const std::unique_ptr<Scheduler> scheduler = MakeScheduler(info.name, AllSchedulers());
        for (const Scenario& scenario : plan.workloads) CheckRunnable(scenario, *scheduler, info.name);
        found.push_back({UsedKnowledge(*scheduler, plan.workloads[0].data()), info.name});
      } catch (const Error& error) {
        plan.refused.push_back({info.name, error.what()});
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [knowledge, name] : found) names.push_back(std::move(name));
  plan.schedulers.insert(plan.schedulers.erase(all), names.begin(), names.end());
  std::erase(plan.schedulers, kAllSchedulers);  // said twice
}

std::vector<ResultRow> EmptyRows(const EvaluationPlan& plan) {
  std::vector<ResultRow> rows;
  for (const std::string& spec : plan.schedulers) {
    std::unique_ptr<Scheduler> scheduler;
    for (const Scenario& scenario : plan.workloads) {
      scheduler = plan.make(spec);  // one of Python's begins one run
      CheckRunnable(scenario, *scheduler, spec);
    }
    rows.push_back({spec, UsedKnowledge(*scheduler, plan.workloads[0].data()),
                    std::vector<RunResult>(plan.workloads.size())});
  }
  return rows;
}

std::vector<ResultRow> Evaluate(const EvaluationPlan& plan, std::vector<Recording>* recordings) {
  const std::size_t num_workloads = plan.workloads.size();
  std::vector<ResultRow> rows = EmptyRows(plan);  // what cannot run shows before any work is done
  const std::size_t num_runs = rows.size() * num_workloads;
  std::vector<DecisionTimes> times(recordings ? num_runs : 0);
  if (recordings) recordings->assign(rows.size(), {});
  if (recordings)
    for (Recording& recording : *recordings)
      recording.wait_s.resize(num_workloads), recording.ftf.resize(num_workloads);
  std::vector<std::atomic<float>> shares(num_runs);
  std::atomic<std::size_t> finished{0};
  std::atomic<bool> failed{false};
  Progress progress(plan.part_of.empty() ? "evaluate" : plan.part_of);
  const auto over = [&] { return failed.load() || (plan.stop != nullptr && plan.stop->load()); };

  const auto show = [&] {
    if (!plan.part_of.empty()) return;
    float sum = 0.0F;
    for (const auto& share : shares) sum += share.load(std::memory_order_relaxed);
    progress.Update(
        sum / static_cast<float>(num_runs),
        Join(finished.load(), " of ", Counted(num_runs, "run"), ", ", progress.Rate(sum, "runs")));
  };
  ThreadTeam team(plan.threads);
  team.Run(static_cast<int>(num_runs), [&](int part) {
    if (over()) return;
    const std::size_t index =
        num_runs - 1 - static_cast<std::size_t>(part);  // a team begins with its last part
    const std::size_t workload = index % num_workloads;
    ResultRow& row = rows[index / num_workloads];
    const Scenario& scenario = plan.workloads[workload];
    try {
      std::unique_ptr<Scheduler> scheduler = plan.make(row.scheduler);
      std::optional<RunRecorder> recorder;
      if (recordings) scheduler = TimeDecisions(std::move(scheduler), times[index]);
      if (recordings && workload == 0) recorder.emplace(scenario);
      RunOptions options;
      options.window = plan.window;
      options.keep_events = recordings != nullptr;
      options.max_time_s = plan.max_time_s;
      options.notice = [&](const std::string& words) {
        progress.Say(Join(row.scheduler, ", seed ", plan.seeds[workload], ": ", words));
      };
      std::int64_t calls = 0;
      options.progress = [&](const Simulator& simulator) {
        if (recorder) recorder->Observe(simulator);
        if (plan.check) plan.check();
        if (recordings && ++calls % kShowEvery != 0) return !over();
        const int done = simulator.arrived_jobs() - simulator.jobs_in_system();
        const float share = static_cast<float>(done) / static_cast<float>(std::max(1, plan.window.end));
        shares[index].store(std::min(1.0F, share), std::memory_order_relaxed);
        show();
        return !over();
      };
      RunResult& result = row.runs[workload] = Run(scenario, *scheduler, row.scheduler, options);
      if (recordings) {
        Recording& recording = (*recordings)[index / num_workloads];
        recording.wait_s[workload] = Waits(result, scenario, plan.window);
        if (recorder) recording.first_run = recorder->Finish(result);
        recording.ftf[workload] = std::move(result.ftf);
        std::vector<Event>().swap(result.events);
      }
    } catch (...) {
      failed = true;
      throw;
    }
    shares[index] = 1.0F;
    ++finished;
    show();
  });
  for (std::size_t index = 0; index < times.size(); ++index)
    (*recordings)[index / num_workloads].decision_times.Add(times[index]);
  if (over()) rows.clear();
  return rows;
}

std::vector<double> Values(const ResultRow& row, const MetricField& field) {
  std::vector<double> values;
  for (const RunResult& run : row.runs) {
    const bool none = field.over == MetricField::Over::kJobs && run.metrics.jobs == 0;
    values.push_back(none ? std::numeric_limits<double>::quiet_NaN() : field.Get(run.metrics));
  }
  return values;
}

Interval MetricInterval(const ResultRow& row, const MetricField& field) {
  return BootstrapMean(Values(row, field), kBootstrapSeed);
}

Interval MetricInterval(const ResultRow& row, const MetricField& field, double mean) {
  if (row.runs.size() < 2 || field.maximum) return {mean, kNoBound, kNoBound};
  const Interval drawn = MetricInterval(row, field);
  return {mean, drawn.low, drawn.high};
}

Interval MeanJctInterval(const ResultRow& row) {
  return MetricInterval(row, MetricFields().front());
}

Interval JctRatio(const ResultRow& row, const ResultRow& reference) {
  return BootstrapRatio(row.MeanJcts(), reference.MeanJcts(), kBootstrapSeed);
}

}  // namespace berth
