// The metrics of RLScheduler's published tables, which differ from ours (traces/PROTOCOL.md §1): its
// utilisation ends when the last job starts, so a long last job counts in full against a span that leaves it
// out, and may push it above 1.
#include <algorithm>

#include "env/index.hpp"
#include "env/metrics.hpp"

namespace berth {
void MeasureHpc(const Simulator& simulator, Window window, Metrics& into) {
  const SimState& state = simulator.state();
  const JobTable& jobs = simulator.scenario().data().jobs;
  const int end = window.end < 0 ? jobs.size() : window.end;
  double bounded = 0.0, wait_sum = 0.0, turnaround = 0.0, slowdown = 0.0, area = 0.0, last_start = 0.0;
  int n = 0;
  for (int job = window.begin; job < end; ++job) {
    if (state.completion[U(job)] == kNever) continue;
    const double wait = state.first_start[U(job)] - jobs.arrival[U(job)];
    const double ran = state.run_seconds[U(job)];
    bounded += std::max(1.0, (wait + ran) / std::max(ran, 10.0));
    wait_sum += wait;
    turnaround += wait + ran;
    slowdown += (wait + ran) / ran;
    area += ran * jobs.gang[U(job)];
    last_start = std::max(last_start, state.first_start[U(job)]);
    ++n;
  }
  if (n == 0) return;
  into.hpc_bounded_slowdown = bounded / n;
  into.hpc_wait_s = wait_sum / n;
  into.hpc_turnaround_s = turnaround / n;
  into.hpc_slowdown = slowdown / n;
  const double span = last_start - jobs.arrival[U(window.begin)];
  into.hpc_utilization = span > 0.0 ? area / (span * simulator.scenario().num_gpus()) : 0.0;
}

}  // namespace berth
