// What a run leaves undone while jobs still arrive (declared in env/sim/metrics.hpp).
#include <algorithm>
#include <limits>

#include "env/base/index.hpp"
#include "env/sim/metrics.hpp"

namespace berth {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// GPU-seconds left at `time` on a cluster without end of jobs [0, count), all of which have arrived.
double LeftWithoutQueue(const Scenario& scenario, int count, double time) {
  const JobTable& jobs = scenario.data().jobs;
  double left = 0.0;
  for (int job = 0; job < count; ++job) {
    const double ends = jobs.arrival[U(job)] + jobs.total_steps[U(job)] / scenario.BestRate(job);
    left += scenario.WorkingGpus(job) * std::max(0.0, ends - time);
  }
  return left;
}

// Jobs [begin, end), all of which have arrived.
void MeasureLeft(const Simulator& simulator, int begin, int end, Metrics& into) {
  const Scenario& scenario = simulator.scenario();
  const JobTable& jobs = scenario.data().jobs;
  const Backlog &halfway = simulator.backlog_halfway(), &last = simulator.backlog_at_last();
  into.backlog_jobs = last.jobs;
  into.backlog_gpu_h = last.gpu_seconds / 3600.0;

  const int middle = begin + (end - begin) / 2;
  double arrived = 0.0;  // GPU-seconds
  for (int job = middle + 1; job < end; ++job)
    arrived += scenario.WorkingGpus(job) * jobs.total_steps[U(job)] / scenario.BestRate(job);
  if (last.time > halfway.time && arrived > 0.0) {
    const double late_then = halfway.gpu_seconds - LeftWithoutQueue(scenario, middle + 1, halfway.time);
    const double late_now = last.gpu_seconds - LeftWithoutQueue(scenario, end, last.time);
    into.backlog_growth = (late_now - late_then) / arrived;
  }
}

}  // namespace

void MeasureBacklog(const Simulator& simulator, Window window, Metrics& into) {
  const JobTable& jobs = simulator.scenario().data().jobs;
  const int end = window.end < 0 ? jobs.size() : window.end;
  if (window.begin >= end) return;
  const int arrived = std::clamp(simulator.arrived_jobs(), window.begin, end);
  if (arrived == end) {
    MeasureLeft(simulator, window.begin, end, into);
  } else {  // not the 0 of a cluster that keeps up
    into.backlog_jobs = into.backlog_gpu_h = into.backlog_growth = kNaN;
  }

  const double over = jobs.arrival.back();
  double open = end - arrived, until = 0.0;
  for (int job = window.begin; job < arrived; ++job) {
    open += simulator.state().completion[U(job)] > over;
    until += std::min({simulator.LeftAt(job), over, simulator.now()}) - jobs.arrival[U(job)];
  }
  into.open_at_end = open / (end - window.begin);
  into.censored_jct_s = arrived > window.begin ? until / (arrived - window.begin) : kNaN;
}

}  // namespace berth
