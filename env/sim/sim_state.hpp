// The simulator's mutable state as columns: one allocation a column at reset, copyable, comparable.
// Schedulers read it through ClusterView only.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "env/sim/feature_states.hpp"
#include "env/sim/job_list.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

enum class JobPhase : std::uint8_t { kFuture, kWaiting, kRunning, kDone, kRejected };

// Why a device takes no new job: bits, for as many reasons at once as there are. What is not a job and works
// there goes with it, but for the two that say so.
enum OutOfService : std::uint8_t {
  kFailed = 1,
  kDraining = 2,   // announced to leave; jobs there run on
  kClosed = 4,     // for a while, by plan
  kHeld = 16,      // something that is not a job holds all of it, and works on
  kVacating = 32,  // wanted empty, or being changed: whoever works there works on, and goes where it can
  kAbsent = 64,    // not there now: a slice that its GPU does not have, or a GPU that is in slices
};
// With one of these a job may be on a device that is out of service.
inline constexpr std::uint8_t kLeaving = kDraining | kClosed | kVacating;

// One job's share of the last round (clocks with rounds).
struct Segment {
  int job;
  int type;
  double seconds;  // charged to the job; kReferenceRounds: finish - previous round's end
  double finish;   // s, when it stopped progressing
  bool completed;
};

// What schedulers are told of rates where that changes while jobs run; otherwise empty, and the scenario's
// (Scenario::told_rates) holds throughout.
struct ToldRates {
  std::vector<double> rate;       // [J, G]
  std::vector<double> best_rate;  // [J]
  std::vector<double> pairs;      // [T, T, G, 2]
  std::uint64_t version = 0;      // how often any has changed
};

struct SimState {
  double now = 0.0;
  bool arrivals_over = false;              // kReferenceRounds
  std::vector<int> free_gpus;              // [G]
  std::vector<int> device_job;             // [D] job on the device, of a pair either one; -1 = idle
  std::vector<std::int16_t> device_milli;  // [D] free thousandths: 1000, or 0 when one or two jobs hold it

  JobList waiting, running, active;
  std::vector<int> arrived, completed;  // since the previous decision point
  // What ran in the last round, latest finish first, then by job; with `unlisted_s` > 0 only those that
  // ended: the others have run for so long, up to now. Segments() lists them, for whoever asks before a
  // decision.
  mutable std::vector<Segment> segments;
  mutable double unlisted_s = 0.0;

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
  std::vector<double> gpu_seconds;  // GPUs held x seconds, up to `busy_from`
  std::vector<std::int32_t> slot;   // into device_slots, -1 = not running

  std::vector<std::vector<int>> device_slots;  // devices of running jobs
  std::vector<std::int32_t> free_slots;

  // With features only (Scenario::plain); empty otherwise.
  std::vector<GpuType> types;                // [G] as in the scenario, `count` = devices in service
  std::vector<std::uint8_t> out_of_service;  // [D] OutOfService bits: why it takes no job; 0 = in service
  int num_leaving = 0;                       // devices that are out of service for a reason of kLeaving
  std::vector<double> safe_steps;            // [J] saved: what a failure leaves of steps_done
  std::vector<double> lost_steps;            // [J] done and lost again to failures
  std::vector<int> interruptions;            // [J] stops that no decision ordered
  std::vector<std::vector<int>> parts;       // [D] who holds a part of it, as they came; empty: nobody, or
                                             // a whole job. No entries where no feature divides GPUs
  std::vector<std::uint8_t> blocked;         // [J] arrived, and held back until ready
  int num_blocked = 0;
  ToldRates told;
  FeatureStates features;

  std::span<const Segment> Segments() const {
    if (unlisted_s > 0.0) ListSegments();
    return segments;
  }
  void ListSegments() const;  // clocks.cpp
  void ForgetUnlisted() {     // who runs is about to change
    if (std::exchange(unlisted_s, 0.0) > 0.0) segments.clear();
  }
  std::span<const int> Devices(int job) const {
    const auto s = slot[static_cast<std::size_t>(job)];
    if (s < 0) return {};
    return device_slots[static_cast<std::size_t>(s)];
  }
  // Everybody on a device: a whole job and its partner, or those who hold parts of it.
  std::vector<int> HoldersOf(int device) const {
    if (!parts.empty() && !parts[static_cast<std::size_t>(device)].empty())
      return parts[static_cast<std::size_t>(device)];
    const int job = device_job[static_cast<std::size_t>(device)];
    if (job < 0) return {};
    const int other = partner[static_cast<std::size_t>(job)];
    return other < 0 ? std::vector<int>{job} : std::vector<int>{job, other};
  }
  bool InService(int device) const {
    return out_of_service.empty() || out_of_service[static_cast<std::size_t>(device)] == 0;
  }
  int Width(int job) const { return static_cast<int>(Devices(job).size()); }  // GPUs held now
  double AttainedSeconds(int job) const {
    const auto j = static_cast<std::size_t>(job);
    return run_seconds[j] + (phase[j] == JobPhase::kRunning ? now - busy_from[j] : 0.0);
  }
  double AttainedGpuSeconds(int job) const {
    const auto j = static_cast<std::size_t>(job);
    return gpu_seconds[j] + (phase[j] == JobPhase::kRunning ? Width(job) * (now - busy_from[j]) : 0.0);
  }
  double SharedSeconds(int job) const {
    const auto j = static_cast<std::size_t>(job);
    return shared_seconds[j] + (now > shared_from[j] ? now - shared_from[j] : 0.0);
  }
  double AttainedSteps(int job) const { return AttainedSteps(job, now); }
  // By a later instant, where nothing changes until then.
  double AttainedSteps(int job, double time) const {
    const auto j = static_cast<std::size_t>(job);
    if (phase[j] != JobPhase::kRunning || time <= progress_from[j]) return steps_done[j];
    return steps_done[j] + rate[j] * (time - progress_from[j]);
  }
};

}  // namespace berth
