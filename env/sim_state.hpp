// The simulator's mutable state as columns: one allocation a column at reset, copyable, comparable.
// Schedulers read it through ClusterView only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/job_list.hpp"
#include "env/scenario.hpp"

namespace berth {

enum class JobPhase : std::uint8_t { kFuture, kWaiting, kRunning, kDone, kRejected };

// One job's share of the last round (clocks with rounds).
struct Segment {
  int job;
  int type;
  double seconds;  // charged to the job; kReferenceRounds: finish - previous round's end
  double finish;   // s, when it stopped progressing
  bool completed;
};

struct SimState {
  double now = 0.0;
  bool arrivals_over = false;              // kReferenceRounds
  std::vector<int> free_gpus;              // [G]
  std::vector<int> device_job;             // [D] job on the device, of a pair either one; -1 = idle
  std::vector<std::int16_t> device_milli;  // [D] free thousandths: 1000, or 0 when one or two jobs hold it

  JobList waiting, running, active;
  std::vector<int> arrived, completed;  // since the previous decision point
  std::vector<Segment> segments;

  // What has happened, hashed: two moments of one scenario with the same history have the same jobs waiting
  // and running in the same places.
  std::uint64_t history = 0x6265727468ULL;
  std::uint64_t changed_since = 0;  // the history at the last decision point, before its decision
  std::vector<int> changed;         // jobs of which phase, place or rate changed since; some more than once

  // [J] each
  std::vector<JobPhase> phase;
  std::vector<std::int8_t> on_type;    // -1 = not running
  std::vector<std::int8_t> last_type;  // -1 = never ran
  std::vector<int> partner;            // job on the same device, -1 = none
  std::vector<double> rate;            // steps/s of the current run: alone, or beside the partner
  std::vector<double> steps_done;      // at `progress_from`, or when it last stopped
  std::vector<double> progress_from;   // s; progress is steps_done + rate * (now - progress_from)
  std::vector<double> run_start;       // s, start of the current run
  std::vector<double> run_seconds;     // seconds on GPUs up to `busy_from`
  std::vector<double> busy_from;       // s; a running job has been busy since then
  std::vector<double> shared_seconds;  // of those, beside a partner, up to `shared_from`
  std::vector<double> shared_from;     // s; of a job with a partner; kNever once the two do not both run
  std::vector<double> first_start;     // s, kNever = never started
  std::vector<double> completion;      // s, kNever = not complete
  std::vector<int> preemptions;
  std::vector<std::int32_t> slot;  // into device_slots, -1 = not running

  std::vector<std::vector<int>> device_slots;  // devices of running jobs
  std::vector<std::int32_t> free_slots;

  std::span<const int> Devices(int job) const {
    const auto s = slot[static_cast<std::size_t>(job)];
    if (s < 0) return {};
    return device_slots[static_cast<std::size_t>(s)];
  }
  double AttainedSeconds(int job) const {
    const auto j = static_cast<std::size_t>(job);
    return run_seconds[j] + (phase[j] == JobPhase::kRunning ? now - busy_from[j] : 0.0);
  }
  double SharedSeconds(int job) const {
    const auto j = static_cast<std::size_t>(job);
    return shared_seconds[j] + (now > shared_from[j] ? now - shared_from[j] : 0.0);
  }
  double AttainedSteps(int job) const {
    const auto j = static_cast<std::size_t>(job);
    if (phase[j] != JobPhase::kRunning || now <= progress_from[j]) return steps_done[j];
    return steps_done[j] + rate[j] * (now - progress_from[j]);
  }
};

}  // namespace berth
