// Metrics of a run, each with its formula, in one place (design.md §7).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
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
  double deadline_miss_rate = 0;     // of jobs that have a deadline; 0 when none has
  double throughput_per_h = 0;       // completed jobs / (last completion - first arrival of the window)
  double cost = 0;        // busy device-hours x price; of electricity where the feature power has its price
  double energy_kwh = 0;  // busy x peak + idle x idle power over the run; integral of power with the feature
  double preemptions_per_job = 0;
  double interruptions_per_job = 0;  // stops that no decision ordered (env/features/failures/failures.hpp)
  // Of inference services (env/features/services/services.hpp), all together; 0 without.
  double service_p50_s = 0, service_p95_s = 0, service_p99_s = 0;  // latency of a request, to 1%
  double service_goodput_per_s = 0;                                // requests answered in time, of the run
  double service_attainment = 0;  // of the requests that came, answered in time
  double service_gpu_hours = 0;   // held by replicas
  double fragmentation = 0;    // time average, feature topology (env/features/topology/placement.hpp); so are
  double spread_starts = 0;    // the share of gangs' starts on more nodes than they need, and
  double unplaced_orders = 0;  // the number of orders that found devices and no node with the resources
  double lost_work_h = 0;      // a job: hours of work lost to them, on its fastest type
  double dropped_entries = 0;  // of decisions that events overtook (env/features/latency/latency.hpp)
  double mean_jobs_in_system = 0;  // integral of jobs in system / end of the run
  double end_s = 0;                // when the run stopped
  // As RLScheduler's tables have them (traces/PROTOCOL.md §1, hpc_metrics.cpp): n jobs, w wait, p seconds on
  // GPUs.
  double hpc_bounded_slowdown = 0;  // mean of max(1, (w + p) / max(p, 10 s))
  double hpc_wait_s = 0;            // mean w
  double hpc_turnaround_s = 0;      // mean w + p
  double hpc_slowdown = 0;          // mean (w + p) / p
  double hpc_utilization = 0;  // GPU-seconds / (GPUs x [first arrival, *start* of the last job to start])
};
Metrics Measure(const Simulator& simulator, Window window);
void MeasureServices(const Simulator& simulator, Metrics& into);            // the service_* alone
void MeasureHpc(const Simulator& simulator, Window window, Metrics& into);  // the hpc_* alone
std::vector<double> CompletionTimes(const Simulator& simulator,
                                    Window window);  // JCT, s, NaN where unfinished

// Quantile by linear interpolation (type 7, as NumPy); `sorted` ascending, not empty.
double Quantile(std::span<const double> sorted, double q);

// One run of a scheduler over a scenario.
struct RunOptions {
  Window window;
  bool keep_events = false;
  std::function<bool(const Simulator&)> progress;  // now and then (keep_events: each decision); false stops
};
struct RunResult {
  Metrics metrics;
  std::uint64_t signature = 0;
  std::int64_t decisions = 0;
  double decision_us_mean = 0, decision_us_p99 = 0;  // wall time of Scheduler::Decide
  double wall_s = 0;
  std::vector<double> jct_s;                          // [window], NaN where unfinished
  std::vector<Event> events;                          // when kept
  std::shared_ptr<const MonitoringState> monitoring;  // series; null where the feature is off
};
// Throws Error when the scheduler needs more than the scenario grants, decides illegally, or stalls.
// Throws Error when the scheduler, `name` in messages, cannot run this scenario: it needs more knowledge than
// is granted, or its Reset refuses the cluster. Leaves it reset.
void CheckRunnable(const Scenario& scenario, Scheduler& scheduler, const std::string& name);

RunResult Run(const Scenario& scenario, Scheduler& scheduler, const std::string& name,
              const RunOptions& options);

}  // namespace berth
