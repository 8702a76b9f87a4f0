#include "tools/reproduce/gavel_runs.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <regex>

#include "env/thread_team.hpp"
#include "tools/interrupt.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/gavel_run_cache.hpp"
#include "tools/reproduce/gavel_strict.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

// Measured on one core of the machine that tools/README.md names: 5,000 jobs on 108 GPUs under max-min.
constexpr double kSecondsAJob = 8.2 / 5000.0;

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
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

GavelOutcome Summary(const Scenario& scenario, const RunResult& result, Window window) {
  GavelOutcome outcome;
  const Metrics& m = result.metrics;
  outcome.jobs = m.jobs, outcome.unfinished = m.unfinished;
  outcome.mean_jct_s = m.mean_jct_s, outcome.makespan_s = m.makespan_s, outcome.utilization = m.utilization;
  outcome.cost = m.cost, outcome.deadline_miss_rate = m.deadline_miss_rate;
  outcome.mean_jct_low_s = MeanOfWeight(scenario, result, window, false);
  outcome.mean_jct_high_s = MeanOfWeight(scenario, result, window, true);
  outcome.arrivals_ran_out =
      window.end < scenario.num_jobs() && m.end_s > scenario.data().jobs.arrival.back();
  outcome.jct_s = result.jct_s;
  outcome.wall_s = result.wall_s;
  return outcome;
}

}  // namespace

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
    MakeScheduler(spec, ReproductionSchedulers());
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void GavelRuns::Plan(const GavelWorkload& workload, const std::string& spec, double cost) {
  if (const std::string why = WhyNotAvailable(spec); !why.empty()) {
    missing_.emplace(spec, why);
    return;
  }
  if (!index_.emplace(workload.name + "\n" + spec, runs_.size()).second) return;
  auto [hash, is_new] = hash_.try_emplace(workload.name, 0);
  if (is_new) hash->second = workload.make().Hash();
  runs_.push_back({workload, spec, cost, RunKey(hash->second, spec, workload.window), false, {}});
}

void GavelRuns::ReadKept() {
  for (Run& run : runs_) {
    if (auto kept = ReadOutcome(folder_, run.key)) run.done = true, run.outcome = std::move(*kept);
  }
}

std::size_t GavelRuns::to_do() const {
  return static_cast<std::size_t>(
      std::count_if(runs_.begin(), runs_.end(), [](const Run& run) { return !run.done; }));
}

double GavelRuns::estimate_s() const {
  double sum = 0.0;
  for (const Run& run : runs_) sum += run.done ? 0.0 : kSecondsAJob * run.cost * run.workload.window.end;
  return sum;
}

std::string GavelRuns::Listing() const {
  std::string text;
  for (const Run& run : runs_) {
    const std::string time =
        run.done ? Join("kept, took ", Duration(run.outcome.wall_s))
                 : Join("about ", Duration(kSecondsAJob * run.cost * run.workload.window.end));
    text += Join(run.workload.name, "  ", run.spec, "  ", time, "\n");
  }
  return text;
}

bool GavelRuns::Execute(int threads) {
  const std::atomic<bool>& interrupted = WatchInterrupts();
  std::vector<Run*> left;
  for (Run& run : runs_) {
    if (!run.done) left.push_back(&run);
  }
  std::vector<std::atomic<float>> shares(left.size());
  std::atomic<std::size_t> finished{0};
  Progress progress("reproduce gavel");
  const auto cost = [](const Run& run) { return static_cast<float>(run.cost * run.workload.window.end); };
  float total = 0.0F;
  for (const Run* run : left) total += cost(*run);
  const auto show = [&](const Run& latest) {
    float done = 0.0F;
    for (std::size_t i = 0; i < left.size(); ++i)
      done += shares[i].load(std::memory_order_relaxed) * cost(*left[i]);
    progress.Update(done / total, Join(finished.load(), " of ", left.size(), " runs, ", latest.workload.name,
                                       " ", latest.spec));
  };
  const auto work = [&](int part) {
    if (interrupted) return;
    const std::size_t i =
        left.size() - 1 - static_cast<std::size_t>(part);  // a team begins with its last part
    Run& run = *left[i];
    const Scenario scenario = run.workload.make();
    RunOptions options;
    options.window = run.workload.window;
    options.progress = [&](const Simulator& simulator) {
      const int done = simulator.arrived_jobs() - simulator.jobs_in_system();
      shares[i] = std::min(1.0F, static_cast<float>(done) / static_cast<float>(options.window.end));
      show(run);
      return !interrupted;
    };
    try {
      const std::unique_ptr<Scheduler> scheduler = MakeScheduler(run.spec, ReproductionSchedulers());
      const RunResult result = berth::Run(scenario, *scheduler, run.spec, options);
      if (interrupted) return;
      run.outcome = Summary(scenario, result, options.window);
    } catch (const Error& error) {  // said in the page; the other runs go on
      run.outcome = {};
      run.outcome.error = error.what();
    }
    if (run.outcome.error.empty()) {
      WriteOutcome(folder_, run.key, Join(run.workload.name, ", ", run.spec), run.outcome);
    }
    run.done = true;
    shares[i] = 1.0F;
    ++finished;
    show(run);
  };
  if (!left.empty()) {
    ThreadTeam team(std::max(1, std::min(threads, static_cast<int>(left.size()))));
    team.Run(static_cast<int>(left.size()), work);
  }
  return to_do() == 0;
}

const GavelOutcome* GavelRuns::Find(const GavelWorkload& workload, const std::string& spec) const {
  const auto it = index_.find(workload.name + "\n" + spec);
  if (it == index_.end() || !runs_[it->second].done) return nullptr;
  return &runs_[it->second].outcome;
}

}  // namespace berth
