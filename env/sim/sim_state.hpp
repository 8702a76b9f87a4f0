// The simulator's mutable state as columns: one allocation a column at reset, copyable, comparable.
// Schedulers read it through ClusterView only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/base/owned.hpp"
#include "env/sim/job_list.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

// States of features, each defined in the header of its name in env/features/.
struct PlacementState;
struct PartitionState;
struct SharingState;
struct ElasticityState;
struct CheckpointState;
struct FailureState;
struct LatencyState;
struct PowerState;
struct ServiceState;
struct StageState;
struct EstimateState;
struct MonitoringState;
class ForecastState;

enum class JobPhase : std::uint8_t { kFuture, kWaiting, kRunning, kDone, kRejected };

// Why a device takes no new job. Bits.
enum OutOfService : std::uint8_t {
  kFailed = 1,
  kDraining = 2,        // announced to leave; what runs there runs on
  kServing = 16,        // a whole replica of a service holds it
  kReconfiguring = 32,  // its GPU changes its layout, or waits to
  kNotInLayout = 64,    // a slice that its GPU's layout does not have, or a GPU in slices
};

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
  std::vector<double> gpu_seconds;  // GPUs held x seconds, up to `busy_from`
  std::vector<std::int32_t> slot;   // into device_slots, -1 = not running

  std::vector<std::vector<int>> device_slots;  // devices of running jobs
  std::vector<std::int32_t> free_slots;

  // With features only (Scenario::plain); empty otherwise.
  std::vector<GpuType> types;                // [G] as in the scenario, `count` = devices in service
  std::vector<std::uint8_t> out_of_service;  // [D] OutOfService bits: why it takes no job; 0 = in service
  std::vector<double> safe_steps;            // [J] saved: what a failure leaves of steps_done
  std::vector<double> lost_steps;            // [J] done and lost again to failures
  Owned<PlacementState> placement;
  Owned<PartitionState> partitions;
  Owned<SharingState> sharing;
  Owned<ElasticityState> elasticity;
  Owned<CheckpointState> checkpoints;
  Owned<FailureState> failures;
  Owned<LatencyState> latency;
  Owned<PowerState> power;
  Owned<ServiceState> services;
  Owned<StageState> stages;
  Owned<EstimateState> estimates;
  Owned<MonitoringState> monitoring;
  Owned<ForecastState> forecast;
  std::vector<int> interruptions;  // [J] stops that no decision ordered

  std::span<const int> Devices(int job) const {
    const auto s = slot[static_cast<std::size_t>(job)];
    if (s < 0) return {};
    return device_slots[static_cast<std::size_t>(s)];
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
  double AttainedSteps(int job) const {
    const auto j = static_cast<std::size_t>(job);
    if (phase[j] != JobPhase::kRunning || now <= progress_from[j]) return steps_done[j];
    return steps_done[j] + rate[j] * (now - progress_from[j]);
  }
};

}  // namespace berth
