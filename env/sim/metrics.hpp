// Metrics of a run, each with its formula, in one place.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/sim/scheduler.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

struct Window {  // jobs [begin, end); end < 0 = all
  int begin = 0;
  int end = -1;
};

// Of the completed jobs of a window. JCT = completion - arrival. Run time alone = total steps over the
// fastest rate.
struct Metrics {
  int jobs = 0;        // completed
  int unfinished = 0;  // of the window: stalled or rejected
  double mean_jct_s = 0, p50_jct_s = 0, p95_jct_s = 0, p99_jct_s = 0, max_jct_s = 0;
  double mean_wait_s = 0, p99_wait_s = 0, max_wait_s = 0;  // first start - arrival
  double mean_slowdown = 0;  // max(1, JCT / max(run time alone, 10 s)): bounded slowdown
  double p99_slowdown = 0;
  double makespan_s = 0;             // last completion of the window
  double utilization = 0;            // busy GPU-seconds / (GPUs x [0, end of the run])
  double mean_ftf = 0, max_ftf = 0;  // finish-time fairness rho, see metrics.cpp
  double jain = 0;                   // Jain index of 1 / slowdown, weights ignored
  double deadline_miss_rate = 0;     // of jobs with a deadline, but those open before it as a run is cut off
  double throughput_per_h = 0;       // completed jobs / (last completion - first arrival of the window)
  double cost = 0;                   // env/sim/accounts.hpp
  double energy_kwh = 0;
  double preemptions_per_job = 0;
  double interruptions_per_job = 0;  // stops that no decision ordered
  double lost_work_h = 0;            // a job: hours of work lost to them, on its fastest type
  double mean_jobs_in_system = 0;    // integral of jobs in system / end of the run
  double end_s = 0;                  // when the run stopped
  // Whether the means are those of a system that keeps up (env/sim/backlog.cpp). Arrivals end with the
  // scenario's last job; what a scheduler puts off until then looks short. The backlog_* are NaN where the
  // run ended (RunOptions::max_time_s) before the window's last job arrived.
  double backlog_jobs = 0;    // in the system when the window's last job has arrived
  double backlog_gpu_h = 0;   // of work left then, each job's on its fastest type and Scenario::WorkingGpus
  double backlog_growth = 0;  // see MeasureBacklog
  double open_at_end = 0;  // share of the window's jobs that are not done when arrivals end, or the run does
  // Mean, over those of them that arrived, of the time in the system until they left, or until then at most;
  // NaN of none.
  double censored_jct_s = 0;
  // As RLScheduler's tables have them (hpc_metrics.cpp): n jobs, w wait, p seconds on
  // GPUs.
  double hpc_bounded_slowdown = 0;  // mean of max(1, (w + p) / max(p, 10 s))
  double hpc_wait_s = 0;            // mean w
  double hpc_turnaround_s = 0;      // mean w + p
  double hpc_slowdown = 0;          // mean (w + p) / p
  double hpc_utilization = 0;  // GPU-seconds / (GPUs x [first arrival, *start* of the last job to start])

  // What features that are on add (FeatureModule::metrics); 0 = off. `key` is one of those.
  double Of(std::string_view key) const;
  void Set(std::string_view key, double value);
  std::vector<std::pair<std::string, double>> of_features;
};
Metrics Measure(const Simulator& simulator, Window window);
void MeasureHpc(const Simulator& simulator, Window window, Metrics& into);  // the hpc_* alone
// The backlog_*, open_at_end and censored_jct_s. Late work is the work left less what would be left on a
// cluster without end, where every job runs from its arrival on its fastest type: 0 where nobody waits or is
// slowed. backlog_growth is the growth of late work from the arrival of the window's middle job to that of
// its last, as a share of the work that arrives between; 0 where they arrive together. Where it stays above 0
// however long the window, the scheduler does not keep up.
void MeasureBacklog(const Simulator& simulator, Window window, Metrics& into);
std::vector<double> CompletionTimes(const Simulator& simulator,
                                    Window window);  // JCT, s, NaN where unfinished
// Finish-time fairness rho of each job (Themis: Mahajan et al., NSDI 2020, section 3): JCT over the run time
// on an isolated share, see metrics.cpp; NaN where unfinished.
std::vector<double> FinishTimeFairness(const Simulator& simulator, Window window);

// Quantile by linear interpolation (type 7, as NumPy); `sorted` ascending, not empty.
double Quantile(std::span<const double> sorted, double q);

// One run of a scheduler over a scenario.
struct RunOptions {
  Window window;
  bool keep_events = false;
  std::function<bool(const Simulator&)> progress;  // now and then (keep_events: each decision); false stops
  double max_time_s = kNever;  // the run ends at its first decision after that, whatever is unfinished
  // Told in words where no job leaves any more though the run goes on (with failures it may never end), and
  // where it ends because the cluster stops every job again and again: then its jobs are unfinished.
  std::function<void(const std::string&)> notice = {};
};
struct RunResult {
  Metrics metrics;
  std::uint64_t signature = 0;
  std::int64_t decisions = 0;
  double decision_us_mean = 0, decision_us_p99 = 0;  // wall time of Scheduler::Decide
  double wall_s = 0;
  std::vector<double> jct_s;       // [window], NaN where unfinished
  std::vector<Event> events;       // when kept
  std::vector<double> ftf;         // [window] FinishTimeFairness, when events are kept
  FeatureStates series;            // at the end, of features that keep series over time
  std::vector<FeatureLane> lanes;  // what features have to be drawn
};
// Throws Error when the scheduler, `name` in messages, cannot run this scenario: it needs more knowledge than
// is granted, or its Reset refuses the cluster. Leaves it reset.
void CheckRunnable(const Scenario& scenario, Scheduler& scheduler, const std::string& name);

// Throws Error when the scheduler needs more than the scenario grants, decides illegally, or stalls; not
// where the cluster is why, and `notice` is there to say so.
RunResult Run(const Scenario& scenario, Scheduler& scheduler, const std::string& name,
              const RunOptions& options);

}  // namespace berth
