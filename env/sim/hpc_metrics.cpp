// The metrics of RLScheduler's published tables, which differ from ours (SC 2020; HPCSimPickJobs.py): its
// utilisation ends when the last job starts, so a long last job counts in full against a span that leaves it
// out, and may push it above 1.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth {
namespace {

// GPU-seconds of a completed job, each GPU's once whoever shares it: of two that were packed half each, of
// those who hold thousandths theirs, of a slice its part of the GPU.
double GpuSeconds(const Simulator& simulator, int job) {
  const SimState& s = simulator.state();
  const JobTable& jobs = simulator.scenario().data().jobs;
  double seconds = s.run_seconds[U(job)] * jobs.gang[U(job)];
  if (!simulator.scenario().plain()) {
    seconds = s.gpu_seconds[U(job)];
    for (const FeatureState& feature : s.features.Of(Hook::kGpuSeconds))
      seconds = feature.GpuSeconds(simulator.scenario(), job, seconds);
  }
  return seconds - 0.5 * s.shared_seconds[U(job)];
}

double NumGpus(const ScenarioData& data) {
  double gpus = 0.0;
  for (int type = 0; type < static_cast<int>(data.cluster.types.size()); ++type)
    gpus += data.cluster.types[U(type)].count * WeightOf(data, type).capacity;
  return gpus;
}

}  // namespace

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
    area += GpuSeconds(simulator, job);
    last_start = std::max(last_start, state.first_start[U(job)]);
    ++n;
  }
  if (n == 0) return;
  into.hpc_bounded_slowdown = bounded / n;
  into.hpc_wait_s = wait_sum / n;
  into.hpc_turnaround_s = turnaround / n;
  into.hpc_slowdown = slowdown / n;
  const double span = last_start - jobs.arrival[U(window.begin)];
  into.hpc_utilization = span > 0.0 ? area / (span * NumGpus(simulator.scenario().data())) : 0.0;
}

}  // namespace berth
