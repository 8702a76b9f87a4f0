#include "tools/reproduce/runs.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <regex>

#include "env/base/index.hpp"
#include "env/base/thread_team.hpp"
#include "tools/interrupt.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/run_cache.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

// Measured on one core (tools/reproduce/README.md): 5,000 jobs on 108 GPUs under max-min.
constexpr double kSecondsAJob = 8.2 / 5000.0;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Of the window's completed jobs, bounded at 10 s as Metrics has it.
std::vector<double> Slowdowns(const Scenario& scenario, const RunResult& result, Window window) {
  std::vector<double> slowdowns;
  for (std::size_t i = 0; i < result.jct_s.size(); ++i) {
    if (std::isnan(result.jct_s[i])) continue;
    const int job = window.begin + static_cast<int>(i);
    const double alone = scenario.data().jobs.total_steps[U(job)] / scenario.BestRate(job);
    slowdowns.push_back(std::max(1.0, result.jct_s[i] / std::max(alone, 10.0)));
  }
  return slowdowns;
}

// Of the window's completed jobs whose weight is 1, or above.
double MeanOfWeight(const Scenario& scenario, const RunResult& result, Window window, bool high) {
  const std::vector<double>& weight = scenario.data().jobs.weight;
  double sum = 0.0;
  int count = 0;
  for (std::size_t i = 0; i < result.jct_s.size(); ++i) {
    const double w = weight.empty() ? 1.0 : weight[static_cast<std::size_t>(window.begin) + i];
    if ((w > 1.0) != high || std::isnan(result.jct_s[i])) continue;
    sum += result.jct_s[i], ++count;
  }
  return count > 0 ? sum / count : kNan;
}

PlannedOutcome Summary(const Scenario& scenario, const RunResult& result, Window window) {
  PlannedOutcome outcome;
  const Metrics& m = result.metrics;
  outcome.jobs = m.jobs, outcome.unfinished = m.unfinished;
  outcome.mean_jct_s = m.mean_jct_s, outcome.makespan_s = m.makespan_s, outcome.utilization = m.utilization;
  outcome.cost = m.cost, outcome.deadline_miss_rate = m.deadline_miss_rate;
  outcome.mean_jct_low_s = MeanOfWeight(scenario, result, window, false);
  outcome.mean_jct_high_s = MeanOfWeight(scenario, result, window, true);
  outcome.p99_jct_s = m.p99_jct_s, outcome.p99_wait_s = m.p99_wait_s, outcome.max_wait_s = m.max_wait_s;
  outcome.mean_ftf = m.mean_ftf, outcome.max_ftf = m.max_ftf;
  outcome.hpc_bounded_slowdown = m.hpc_bounded_slowdown;
  outcome.backlog_growth = m.backlog_growth;
  outcome.gini_slowdown = Gini(Slowdowns(scenario, result, window));
  outcome.arrivals_ran_out =
      window.end < scenario.num_jobs() && m.end_s > scenario.data().jobs.arrival.back();
  outcome.jct_s = result.jct_s;
  outcome.wall_s = result.wall_s;
  return outcome;
}

}  // namespace

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double Gini(std::vector<double> values) {
  if (values.empty()) return kNan;
  std::sort(values.begin(), values.end());
  double sum = 0.0, ranked = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    ranked += static_cast<double>(i + 1) * values[i];
  }
  const auto n = static_cast<double>(values.size());
  return 2.0 * ranked / (n * sum) - (n + 1.0) / n;
}

std::string SpecOfReferencePolicy(const std::string& policy) {
  static const std::regex entry(R"(([A-Za-z0-9_]+)(?: \(([^()]*)\))?)");
  for (const SchedulerTable& table : AllSchedulers()) {
    for (const SchedulerInfo& row : table) {
      const std::string names = row.reference_name;
      for (auto it = std::sregex_iterator(names.begin(), names.end(), entry); it != std::sregex_iterator();
           ++it) {
        if ((*it)[1] != policy) continue;
        const std::string params = (*it)[2];
        return params.empty() ? std::string(row.name) : Join(row.name, "(", params, ")");
      }
    }
  }
  return "";
}

std::string WhyNotAvailable(const std::string& spec) {
  if (spec.empty()) return "no scheduler stands for it";
  try {
    MakeScheduler(spec, AllSchedulers());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void ReproductionRuns::Plan(const PlannedWorkload& workload, const std::string& spec, double cost) {
  if (missing_.count(spec) > 0) return;
  if (available_.count(spec) == 0) {
    if (const std::string why = WhyNotAvailable(spec); !why.empty()) {
      missing_.emplace(spec, why);
      return;
    }
    available_.insert(spec);
  }
  if (!index_.emplace(workload.name + "\n" + spec, runs_.size()).second) return;
  auto [hash, is_new] = hash_.try_emplace(workload.name, 0);
  if (is_new) hash->second = workload.make().Hash();
  const std::string how = workload.change ? Join(spec, ", ", workload.change_name) : spec;
  runs_.push_back({workload, spec, cost, RunKey(hash->second, how, workload.window), "", false, {}});
}

void ReproductionRuns::ReadKept() {
  for (Run& run : runs_) {
    auto kept = ReadOutcome(folder_, run.key, rules_.any_source);
    // One that was stopped says nothing of what a larger limit would give.
    if (!kept || (kept->outcome.stopped && kept->outcome.cpu_s < rules_.cpu_limit_s)) continue;
    if (run.workload.keep_jct && kept->outcome.jct_s.empty() && !kept->outcome.stopped) continue;
    run.done = true, run.outcome = std::move(kept->outcome), run.source = std::move(kept->source);
  }
}

std::size_t ReproductionRuns::to_do() const {
  return static_cast<std::size_t>(
      std::count_if(runs_.begin(), runs_.end(), [](const Run& run) { return !run.done; }));
}

double ReproductionRuns::estimate_s() const {
  double sum = 0.0;
  for (const Run& run : runs_) sum += run.done ? 0.0 : kSecondsAJob * run.cost * run.workload.window.end;
  return sum;
}

std::set<std::string> ReproductionRuns::sources() const {
  std::set<std::string> sources;
  for (const Run& run : runs_) {
    if (run.done) sources.insert(run.source);
  }
  return sources;
}

double ReproductionRuns::cpu_s() const {
  double sum = 0.0;
  for (const Run& run : runs_) sum += run.outcome.cpu_s;
  return sum;
}

std::string ReproductionRuns::Listing() const {
  std::string text;
  for (const Run& run : runs_) {
    const std::string time =
        run.done ? Join("kept, took ", Duration(run.outcome.wall_s))
                 : Join("about ", Duration(kSecondsAJob * run.cost * run.workload.window.end));
    text += Join(run.workload.name, "  ", run.spec, "  ", time, "\n");
  }
  return text;
}

// `go_on` is told the share that is done, and says whether to.
void ReproductionRuns::RunOne(Run& run, const std::function<bool(double share)>& go_on) {
  const double made_s = ThreadCpuSeconds();
  const int last = run.workload.window.end;
  double begin_s = made_s;  // what making the scenario took is not limited
  bool goes_on = true, stopped = false;
  RunOptions options;
  options.window = run.workload.window;
  options.progress = [&](const Simulator& simulator) {
    const int done = simulator.arrived_jobs() - simulator.jobs_in_system();
    goes_on = go_on(std::min(1.0, static_cast<double>(done) / last));
    stopped = ThreadCpuSeconds() - begin_s > rules_.cpu_limit_s;
    return goes_on && !stopped;
  };
  PlannedOutcome outcome;
  try {
    const PlannedWorkload& workload = run.workload;
    const Scenario scenario = workload.change ? workload.change(workload.make()) : workload.make();
    const std::unique_ptr<Scheduler> scheduler = MakeScheduler(run.spec, AllSchedulers());
    begin_s = ThreadCpuSeconds();
    const RunResult result = berth::Run(scenario, *scheduler, run.spec, options);
    if (!goes_on) return;
    if (stopped) {
      outcome.stopped = true;
    } else {
      outcome = Summary(scenario, result, options.window);
      if (!workload.keep_jct) outcome.jct_s = {};
    }
  } catch (const Error& error) {  // said in the page; the other runs go on
    outcome.error = error.what();
  }
  // Of a stopped run only what the limit is of: ReadKept compares it with another limit.
  outcome.cpu_s = ThreadCpuSeconds() - (outcome.stopped ? begin_s : made_s);
  if (outcome.error.empty()) {
    WriteOutcome(folder_, run.key, Join(run.workload.name, ", ", run.spec), outcome);
  }
  run.outcome = std::move(outcome);
  run.source = RunSource();
  run.done = true;
}

bool ReproductionRuns::Execute(int threads) {
  const std::atomic<bool>& interrupted = WatchInterrupts();
  std::vector<Run*> left;
  for (Run& run : runs_) {
    if (!run.done) left.push_back(&run);
  }
  std::atomic<double> done{0.0};  // of the cost of all
  std::atomic<std::size_t> finished{0};
  Progress progress(label_);
  const auto cost = [](const Run& run) { return run.cost * run.workload.window.end; };
  double total = 0.0;
  for (const Run* run : left) total += cost(*run);
  const auto work = [&](int part) {
    if (interrupted) return;
    Run& run = *left[left.size() - 1 - static_cast<std::size_t>(part)];  // a team begins with its last part
    double told = 0.0;
    const auto tell = [&](double share) {
      done.fetch_add((share - told) * cost(run), std::memory_order_relaxed);
      told = share;
      progress.Update(done / total, Join(finished.load(), " of ", left.size(), " runs, ", run.workload.name,
                                         " ", run.spec));
      return !interrupted;
    };
    RunOne(run, tell);
    finished += run.done;
    tell(1.0);
  };
  if (!left.empty()) {
    ThreadTeam team(std::max(1, std::min(threads, static_cast<int>(left.size()))));
    team.Run(static_cast<int>(left.size()), work);
  }
  return to_do() == 0;
}

const PlannedOutcome* ReproductionRuns::Find(const PlannedWorkload& workload, const std::string& spec) const {
  const auto it = index_.find(workload.name + "\n" + spec);
  if (it == index_.end() || !runs_[it->second].done) return nullptr;
  return &runs_[it->second].outcome;
}

const PlannedOutcome* ReproductionRuns::FindWhole(const PlannedWorkload& workload,
                                                  const std::string& spec) const {
  const PlannedOutcome* run = Find(workload, spec);
  return run != nullptr && run->error.empty() && !run->stopped && run->unfinished == 0 ? run : nullptr;
}

}  // namespace berth
