// The copyable deterministic machine that runs a Scenario to its next decision point, applies a Decision and
// logs events.
//
//   Simulator simulator(scenario);
//   while (simulator.AdvanceToDecision()) {
//     scheduler.Decide(simulator.View(scheduler.knowledge()), decision);
//     if (auto applied = simulator.Apply(decision); !applied.ok()) ...
//   }
//
// Two jobs on one GPU (Decision::Pack) progress at their pair rates from the instant of the decision,
// whatever start of one is still being paid for. Under clocks event and hpc, and when a decision parts them,
// the one that stays has its own rate again at that instant. When one ends inside a round (clocks with
// rounds), the other keeps the pair rate up to the boundary: what a round runs is fixed at its start. Under
// reference_rounds each counts its whole steps at its pair rate (gavel/SPEC.md §7 step 9) and has its own
// finish. A shared GPU is busy once: BusySeconds, and so utilisation, cost and energy, count devices, not
// jobs; each of the two attains every second of its own (AttainedSeconds).
//
// Thread rule: one thread at a time; copies are independent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/auditor.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"
#include "env/sim/event_queue.hpp"
#include "env/sim/scenario.hpp"
#include "env/sim/sim_state.hpp"
#include "env/sim/timers.hpp"

namespace berth {

// In the order in which things of one instant happen. Persistent (golden logs): grows at the end.
enum class EventKind : std::uint8_t {
  kComplete,
  kArrive,
  kStop,
  kMove,
  kStart,
  kReject,
  kPack,
  kInterrupt,  // a job stops and no decision ordered it
  kDown,       // a device leaves service; no job
  kUp,         // it is back
};
const char* ToString(EventKind kind);  // "complete", "arrive", ...

struct Event {
  double time;  // s
  EventKind kind;
  std::int8_t type;  // GPU type, -1 where there is none
  int job;           // index, -1 where there is none
  int device;        // first device, -1 where there is none
};

// The rule that an illegal decision breaks.
enum class Rule : std::uint8_t {
  kNone,
  kUnknownJob,
  kNotArrived,
  kNotWaiting,
  kNotRunning,
  kUnknownType,
  kCannotRun,
  kNoRoom,
  kDeviceBusy,
  kDeviceOfOtherType,
  kWrongDeviceCount,
  kTwice,
  kPackHost,
  kPackGang,
  kPackShared,
  kPackRate,
  kWidth,
  kOutOfService,
  kControl,  // ApplyResult::command counts the decision's controls
  kNodeResources,
};
struct [[nodiscard]] ApplyResult {
  Rule rule = Rule::kNone;
  int command = -1;  // index of the offending command
  bool ok() const { return rule == Rule::kNone; }
};
class Simulator;
// "job 7 needs 4 GPUs of type k80, 2 are free": which rule, in words, with operands.
std::string Explain(const ApplyResult& result, const Decision& decision, const Simulator& simulator);

struct SimulatorOptions {
  bool keep_events = false;  // store the log (the signature is always computed)
  int stop_after_first = 0;  // [begin, end) window of jobs: the run stops when they are done;
  int stop_after_last = -1;  // -1 = all jobs
};

class Simulator {
 public:
  explicit Simulator(Scenario scenario, SimulatorOptions options = {});

  // Runs to the next decision point. False when the window's jobs are done or rejected, or when nothing more
  // can happen (stalled(): jobs wait, nothing runs, nothing will arrive).
  bool AdvanceToDecision();

  // Validates the whole decision against the present state, then carries it out. On failure nothing changes.
  ApplyResult Apply(const Decision& decision);

  ClusterView View(Knowledge granted) const { return ClusterView(scenario_, state_, granted); }
  const Scenario& scenario() const { return scenario_; }
  const SimState& state() const { return state_; }
  double now() const { return state_.now; }
  bool finished() const { return finished_; }
  bool stalled() const { return stalled_; }

  // Is a job of the scenario still to come? Not for schedulers: the MDP's mask and the drivers ask.
  bool arrivals_remain() const { return ArrivalsRemain(); }
  // Will the cluster itself change, as by a repair?
  bool timers_remain() const { return !timers_.empty(); }

  const std::vector<Event>& events() const { return events_; }  // empty unless keep_events
  std::uint64_t signature() const { return state_.history; }    // hash of the event log so far

  // -- accumulated for metrics and rewards, exact at `now`
  double JobSeconds() const;  // integral of jobs in system over time
  double JobSecondsAtArrival(int job) const { return job_seconds_at_arrival_[static_cast<std::size_t>(job)]; }
  double JobSecondsAtEnd(int job) const { return job_seconds_at_end_[static_cast<std::size_t>(job)]; }
  double BusySeconds(int type) const;  // GPU-seconds held on a type, a shared GPU's once
  int jobs_in_system() const { return state_.active.size(); }
  int arrived_jobs() const { return next_arrival_; }

 private:
  // The parts of env/features/, each in the files of its name.
  friend class PlacementEngine;
  friend class PartitionEngine;
  friend class SharingEngine;
  friend class ElasticityEngine;
  friend class CheckpointEngine;
  friend class FailureEngine;
  friend class LatencyEngine;
  friend class PowerEngine;
  friend class ServiceEngine;
  friend class StageEngine;
  friend class EstimateEngine;
  friend class MonitoringEngine;
  friend class ForecastEngine;

  // clocks.cpp: each runs to the next decision point; false when nothing more can happen
  bool AdvanceEvents(bool one_at_a_time);
  bool AdvanceRounds();
  bool AdvanceReferenceRounds();
  void RunRoundInParts(double boundary);  // a round within which timers fire
  void ArriveUntil(double time);
  void EndRound(double boundary);
  void Drop(int job);
  bool NothingFollows();  // sets stalled_ or finished_; always false

  void Arrive(int job, double time);
  void Ready(int job, double time);  // it waits from now on
  void Complete(int job, double time, bool release_devices);
  void StartRun(int job, int type, double overhead);
  void EndRun(int job, double time);  // accounts the run; devices stay until Release
  void Release(int job);
  // events of the cluster itself; timers.cpp
  double NextTimer() const { return timers_.empty() ? kNever : timers_.top().time; }
  // Only timers would follow, and have for so long that nothing will come of them.
  bool TimersAlone(double next);
  bool FireTimers();  // all of `now`; is a decision due?
  bool Fire(const Timer& timer);
  void StartTimers();  // of a fresh simulation
  void SetService(int device, OutOfService reason, bool out);
  void Interrupt(int job);          // now, back to its last checkpoint
  double KeptSteps(int job) const;  // what of steps_done survives an interruption
  // effective_rate.cpp
  double RunRate(int job) const {  // steps/s where it now stands
    if (!scenario_.plain()) return EffectiveRate(job);
    const int type = state_.on_type[static_cast<std::size_t>(job)];
    const int partner = state_.partner[static_cast<std::size_t>(job)];
    return partner < 0 ? scenario_.Rate(job, type) : scenario_.PairRate(job, partner, type);
  }
  double EffectiveRate(int job) const;
  void Rerate(int job) {  // what it depends on has changed
    if (const double rate = RunRate(job); rate != state_.rate[static_cast<std::size_t>(job)])
      SetRate(job, rate);
  }

  int Width(const Command& command) const {  // GPUs that a start or move asks for
    return command.width > 0 ? command.width
                             : scenario_.data().jobs.gang[static_cast<std::size_t>(command.job)];
  }
  void TakeSlot(int job);
  // False, and nothing done, where no node has the resources (feature topology).
  bool Place(int job, const Command& command, const Decision& decision);
  // sharing.cpp
  void ApplyPacks(const Decision& decision);
  void Share(int job, int host);          // from now on; both are placed
  void Part(int job);                     // the partner runs on alone from now on
  void EndSharedRound(double end);        // kReferenceRounds: accounts every pair's round
  void EndSharing(int job, double time);  // accounts the seconds that both ran
  void SetRate(int job, double rate);     // from now on; keeps the progress made
  double FinishTime(int job) const;       // the one place that computes it
  double Overhead(int job, int type) const;
  double MoveCost() const;
  int InSystem() const;  // jobs: active, or blocked by others (feature stages)
  void AdvanceJobSeconds(double time);
  void Leave(int job, double time, JobPhase phase);
  void Reported();  // what changes from here on is news to whoever saw this decision point
  void Changed(int job) { state_.changed.push_back(job); }
  void Log(double time, EventKind kind, int type, int job, int device);
  ApplyResult Validate(const Decision& decision);
  ApplyResult ValidatePacks(const Decision& decision);  // the last of Validate
  bool ControlAllowed(const Control& control) const;    // controls.cpp
  void CarryOut(const Control& control);
  bool ArrivalsRemain() const { return next_arrival_ < scenario_.num_jobs(); }
  double NextArrival() const;

  Scenario scenario_;
  SimulatorOptions options_;
  SimState state_;
  TimerQueue timers_;
  int idle_timers_ = 0;                                  // decision points in a row that only timers brought
  EventQueue queue_;                                     // completions; clocks event and hpc
  std::int32_t starts_ = 0;                              // so far; kHpc
  std::vector<std::int32_t> rank_;                       // [J] clock hpc: order of starts, otherwise 0
  std::vector<std::uint32_t> version_;                   // [J] of the current run
  std::vector<std::uint64_t> free_bits_;                 // [D / 64] idle devices
  std::vector<std::uint32_t> job_stamp_, device_stamp_;  // marks of the decision being validated
  std::vector<int> spare_;                               // [G] room while validating
  std::vector<int> command_of_;            // [J] index of the command that names the job, if one does
  std::vector<std::uint32_t> host_stamp_;  // [J] a job is packed beside this one
  std::uint32_t stamp_ = 0;
  std::vector<std::uint8_t> failures_;  // [J] kReferenceRounds: rounds in which no step fitted
  std::vector<Segment> round_scratch_;
  int next_arrival_ = 0;
  int window_left_ = 0;
  bool finished_ = false, stalled_ = false, idle_retry_ = false;
  bool reported_ = false;  // nothing changed since the decision point
  double wake_at_ = kNever;
  std::int64_t round_ = -1;                              // kRounds: index of the boundary `now`
  double last_round_end_ = 0.0, this_round_end_ = -1.0;  // kReferenceRounds: cur_start, cur_end (< 0: unset)
  double job_seconds_ = 0.0, job_seconds_time_ = 0.0;
  std::vector<double> busy_seconds_;    // [G] finished runs
  std::vector<double> shared_seconds_;  // [G] of those, seconds that two jobs held one GPU
  std::vector<double> job_seconds_at_arrival_, job_seconds_at_end_;  // [J]
  std::vector<Event> events_;
#ifdef BERTH_DEBUG_CHECKS
  void Audit(bool within_round = false);
  Auditor auditor_;
#endif
};

// The checker that knows nothing of how the state came about (env/sim/invariants.hpp): capacity, whole gangs,
// bookkeeping. "" when all hold. Called after every decision in debug builds and tests, where an auditor
// (env/sim/auditor.hpp) also keeps books of time, work, GPU-seconds and job-seconds from each to the next.
std::string CheckInvariants(const Simulator& simulator);

}  // namespace berth
