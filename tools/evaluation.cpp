#include "tools/evaluation.hpp"

#include <algorithm>
#include <atomic>

#include "data/hdf5_file.hpp"
#include "env/thread_team.hpp"
#include "tools/progress.hpp"
#include "tools/scenario_options.hpp"

namespace berth {
namespace {

constexpr std::uint64_t kBootstrapSeed = 0;
constexpr int kEvaluationVersion = 1;

}  // namespace

void ExpandAll(EvaluationPlan& plan) {
  const auto all = std::find(plan.schedulers.begin(), plan.schedulers.end(), kAllSchedulers);
  if (all == plan.schedulers.end()) return;
  const Scenario& scenario = plan.workloads[0];
  std::vector<std::pair<Knowledge, std::string>> found;
  for (const SchedulerTable& table : AllSchedulers()) {
    for (const SchedulerInfo& info : table) {
      if (std::find(plan.schedulers.begin(), plan.schedulers.end(), info.name) != plan.schedulers.end())
        continue;
      try {
        const std::unique_ptr<Scheduler> scheduler = MakeScheduler(info.name, AllSchedulers());
        CheckRunnable(scenario, *scheduler, info.name);
        found.push_back({UsedKnowledge(scheduler->knowledge(), scenario.data().knowledge), info.name});
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

std::vector<ResultRow> Evaluate(const EvaluationPlan& plan) {
  const std::size_t num_workloads = plan.workloads.size();
  std::vector<ResultRow> rows;
  for (const std::string& spec : plan.schedulers) {  // what cannot run shows before any work is done
    const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
    CheckRunnable(plan.workloads[0], *scheduler, spec);
    rows.push_back({spec, UsedKnowledge(scheduler->knowledge(), plan.workloads[0].data().knowledge),
                    std::vector<RunResult>(num_workloads)});
  }
  const std::size_t num_runs = rows.size() * num_workloads;
  std::vector<std::atomic<float>> shares(num_runs);
  std::atomic<std::size_t> finished{0};
  std::atomic<bool> failed{false};
  Progress progress("evaluate");

  const auto show = [&] {
    float sum = 0.0F;
    for (const auto& share : shares) sum += share.load(std::memory_order_relaxed);
    progress.Update(sum / static_cast<float>(num_runs), Join(finished.load(), " of ", num_runs, " runs"));
  };
  ThreadTeam team(plan.threads);
  team.Run(static_cast<int>(num_runs), [&](int part) {
    if (failed) return;
    const std::size_t index =
        num_runs - 1 - static_cast<std::size_t>(part);  // a team begins with its last part
    ResultRow& row = rows[index / num_workloads];
    const Scenario& scenario = plan.workloads[index % num_workloads];
    try {
      const std::unique_ptr<Scheduler> scheduler = MakeScheduler(row.scheduler, AllSchedulers());
      RunOptions options;
      options.window = plan.window;
      options.progress = [&](const Simulator& simulator) {
        const int done = simulator.arrived_jobs() - simulator.jobs_in_system();
        const float share = static_cast<float>(done) / static_cast<float>(std::max(1, plan.window.end));
        shares[index].store(std::min(1.0F, share), std::memory_order_relaxed);
        show();
        return !failed;
      };
      row.runs[index % num_workloads] = Run(scenario, *scheduler, row.scheduler, options);
    } catch (...) {
      failed = true;
      throw;
    }
    shares[index] = 1.0F;
    ++finished;
    show();
  });
  return rows;
}

Interval MeanJctInterval(const ResultRow& row) {
  return BootstrapMean(row.MeanJcts(), kBootstrapSeed);
}

Interval JctRatio(const ResultRow& row, const ResultRow& reference) {
  return BootstrapRatio(row.MeanJcts(), reference.MeanJcts(), kBootstrapSeed);
}

void WriteEvaluation(const EvaluationPlan& plan, const std::vector<ResultRow>& rows,
                     const std::string& workload, const std::string& semantics, const Options& options,
                     const std::string& path) {
  const auto num_schedulers = static_cast<std::int64_t>(rows.size());
  const auto num_workloads = static_cast<std::int64_t>(plan.workloads.size());
  const std::int64_t width = plan.window.end - plan.window.begin;
  std::vector<std::string> names;
  std::vector<double> jct, means;
  std::vector<std::uint64_t> signatures;
  for (const ResultRow& row : rows) {
    names.push_back(row.scheduler);
    for (const RunResult& run : row.runs) {
      jct.insert(jct.end(), run.jct_s.begin(), run.jct_s.end());
      means.push_back(run.metrics.mean_jct_s);
      signatures.push_back(run.signature);
    }
  }
  h5::Writer out(path, "evaluation", kEvaluationVersion);
  out.Text("workload", workload);
  out.Text("scenario", ScenarioText(plan.workloads[0]));
  out.Text("semantics", semantics);
  out.Text("window", Join(plan.window.begin, ":", plan.window.end));
  out.Text("config", options.ResolvedIni());
  out.Strings("schedulers", names);
  out.Array<std::int64_t>("seeds", plan.seeds);
  out.Array<double>("jct_s", jct, {num_schedulers, num_workloads, width});
  out.Array<double>("mean_jct_s", means, {num_schedulers, num_workloads});
  out.Array<std::uint64_t>("signatures", signatures, {num_schedulers, num_workloads});
  out.Commit();
}

}  // namespace berth
