// The machine inside a Simulator: its state, and the mechanisms by which features change it. Schedulers,
// environments and tools see env/sim/simulator.hpp; features (env/sim/feature.hpp) are given this.
//
// What is accounted where two jobs share a GPU stands in pair_sharing.cpp, how each clock moves time in
// clocks.cpp, what happens by itself in timers.cpp, what is legal in decision_rules.cpp.
//
// Thread rule: one thread at a time; copies are independent.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/sim/auditor.hpp"
#include "env/sim/decision.hpp"
#include "env/sim/event_queue.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/scenario.hpp"
#include "env/sim/sim_state.hpp"
#include "env/sim/timers.hpp"

namespace berth {

class ClusterView;

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
  // OutOfService: kDown, why; kUp, what ended. For who draws: neither in the history nor in a file.
  std::uint8_t reasons = 0;
};

struct SimulatorOptions {
  bool keep_events = false;  // store the log (the signature is always computed)
  int stop_after_first = 0;  // [begin, end) window of jobs: the run stops when they are done;
  int stop_after_last = -1;  // -1 = all jobs
};

// What is in the system at one instant.
struct Backlog {
  double time = 0.0;  // s
  int jobs = 0;
  double gpu_seconds = 0.0;  // of work left, each job's on its fastest type
};

class SimCore {
 public:
  const Scenario& scenario() const { return scenario_; }
  const SimState& state() const { return state_; }
  SimState& state() { return state_; }
  double now() const { return state_.now; }
  ClusterView View(Knowledge granted) const;
  double JobSeconds() const;           // integral of jobs in the system over time
  double BusySeconds(int type) const;  // GPU-seconds held on a type, a shared GPU's once

  // -- time
  void SetTimer(const Timer& timer) { timers_.Push(timer); }
  // One at which a feature only looks: it keeps no run going and begins no round.
  void SetWatch(const Timer& timer) { watches_.Push(timer); }
  bool over() const { return window_left_ == 0; }  // the window's jobs are done

  // -- jobs. What happens is logged, and whoever follows changes is told.
  void Log(double time, EventKind kind, int type, int job, int device);
  void Changed(int job) { state_.changed.push_back(job); }
  void Block(int job);                  // it has arrived and is in no list until it is Ready
  void Unblock(int job, double time);   // then Ready or TurnAway
  void Ready(int job, double time);     // it waits from now on
  void TurnAway(int job, double time);  // one that is in no list
  void Interrupt(int job);              // now, back to what of its work is saved
  void Save(int job);                   // no failure takes from it what is done by now

  // -- rates
  void SetRate(int job, double rate);  // from now on; keeps the progress made
  // A running job's work is where a feature says that it is, steps, from now on; its rate stays.
  void SetProgress(int job, double steps);
  void Rerate(int job) {  // what it depends on has changed
    if (const double rate = RunRate(job); rate != state_.rate[static_cast<std::size_t>(job)])
      SetRate(job, rate);
  }
  // Of who runs on the device, but one: a rate may stay the same and what it uses of the GPU not.
  void RerateOn(int device, int but = -1);

  // -- devices. SetService: in or out for one more reason.
  void SetService(int device, OutOfService reason, bool out);
  // A job is given devices: first a list, which is then filled, then each of them.
  std::vector<int>& TakeSlot(int job);
  void Occupy(int device) {  // it is idle no more
    free_bits_[static_cast<std::size_t>(device / 64)] &= ~(std::uint64_t{1} << (device % 64));
  }
  bool MayTake(int job, int device) const;  // as far as what is around the device goes

  // -- decisions. While one is validated: who is named by a command, and devices and room as they will be.
  ApplyResult Validate(const Decision& decision);
  ApplyResult Apply(const Decision& decision);
  int Width(const Command& command) const {  // GPUs that a start or move asks for
    return command.width > 0 ? command.width
                             : scenario_.data().jobs.gang[static_cast<std::size_t>(command.job)];
  }
  bool Named(int job) const { return job_stamp_[static_cast<std::size_t>(job)] == stamp_; }
  bool Marked(int device) const { return device_stamp_[static_cast<std::size_t>(device)] == stamp_; }
  void Mark(int device) { device_stamp_[static_cast<std::size_t>(device)] = stamp_; }
  void TakeSpare(int type) { --spare_[static_cast<std::size_t>(type)]; }  // of a type's room

 protected:  // what Simulator shows
  explicit SimCore(Scenario scenario, SimulatorOptions options);
  bool AdvanceToDecision();
  bool finished() const { return finished_; }
  bool stalled() const { return stalled_; }
  bool arrivals_remain() const { return ArrivalsRemain(); }
  bool timers_remain() const { return !timers_.empty(); }
  // It has stalled, and not for want of starts: again and again they were made, and all were lost.
  bool starts_were_lost() const;
  const std::vector<Event>& events() const { return events_; }
  std::uint64_t signature() const { return state_.history; }
  double JobSecondsAtArrival(int job) const { return job_seconds_at_arrival_[static_cast<std::size_t>(job)]; }
  double JobSecondsAtEnd(int job) const { return job_seconds_at_end_[static_cast<std::size_t>(job)]; }
  // When a job was done or turned away, s; kNever before.
  double LeftAt(int job) const { return left_at_[static_cast<std::size_t>(job)]; }
  // When the window's middle job and when its last one has arrived; zeros before.
  const Backlog& backlog_halfway() const { return halfway_; }
  const Backlog& backlog_at_last() const { return at_last_; }
  int jobs_in_system() const { return state_.active.size(); }
  int arrived_jobs() const { return next_arrival_; }

  // Of a simulation that does not begin at its beginning.
  void StopAudit() { auditor_.reset(); }

 private:
  // clocks.cpp: each runs to the next decision point; false when nothing more can happen
  bool AdvanceEvents(bool one_at_a_time);
  bool AdvanceRounds();
  bool AdvanceReferenceRounds();
  void RunRoundInParts(double boundary);  // a round within which timers fire
  void ArriveUntil(double time);
  void EndRound(double boundary);
  void Drop(int job);
  bool Due();             // may the scheduler be asked now?
  bool NothingFollows();  // sets stalled_ or finished_; always false

  void Arrive(int job, double time);
  void TakeIn(int job, double time);
  void Complete(int job, double time, bool release_devices);
  void Leave(int job, double time, JobPhase phase);
  void StartRun(int job, int type, double overhead);
  void EndRun(int job, double time);  // accounts the run; devices stay until Release
  void Release(int job);
  int InSystem() const { return state_.active.size() + state_.num_blocked; }
  void AdvanceJobSeconds(double time);
  Backlog BacklogAt(double time) const;
  void Reported();  // what changes from here on is news to whoever saw this decision point
  void Settle() {
    for (FeatureState& feature : state_.features.Of(Hook::kSettle)) feature.Settle(*this);
  }

  // timers.cpp
  void StartFeatures();  // of a fresh simulation
  double NextDeed() const { return timers_.empty() ? kNever : timers_.top().time; }
  double NextTimer() const {  // of any sort
    return std::min(NextDeed(), watches_.empty() ? kNever : watches_.top().time);
  }
  // Only timers would follow, and have for so long that nothing will come of them.
  bool TimersAlone(double next);
  void EndIdleRow() { idle_timers_ = idle_at_start_ = 0; }
  bool FireTimers();  // all of `now`; is a decision due?
  bool Fire(const Timer& timer);

  double RunRate(int job) const {  // steps/s where it now stands
    if (!scenario_.plain()) return FeaturedRate(job);
    const int type = state_.on_type[static_cast<std::size_t>(job)];
    const int partner = state_.partner[static_cast<std::size_t>(job)];
    return partner < 0 ? scenario_.Rate(job, type) : scenario_.PairRate(job, partner, type);
  }
  double FeaturedRate(int job) const;
  double FinishTime(int job) const;  // the one place that computes it
  void QueueFinish(int job);         // of its current run, from what its rate is now
  double Overhead(int job, int type) const;
  double MoveCost() const;

  bool Place(int job, const Command& command, const Decision& decision);  // false: nothing done
  void LeaveUnplaced(const Command& command);
  // pair_sharing.cpp
  void ApplyPacks(const Decision& decision);
  void Share(int job, int host);          // from now on; both are placed
  void Part(int job);                     // the partner runs on alone from now on
  void EndSharedRound(double end);        // kReferenceRounds: accounts every pair's round
  void EndSharing(int job, double time);  // accounts the seconds that both ran

  ApplyResult ValidatePacks(const Decision& decision);  // the last of Validate
  bool ArrivalsRemain() const { return next_arrival_ < scenario_.num_jobs(); }
  double NextArrival() const;

  Scenario scenario_;
  SimulatorOptions options_;
  SimState state_;
  TimerQueue timers_, watches_;
  // Decision points that only timers brought, since a job last made progress that stays, and by the last
  // start.
  int idle_timers_ = 0, idle_at_start_ = 0;
  bool in_parts_ = false;                                // kRounds: somebody listens to Settle
  EventQueue queue_;                                     // completions; not with kReferenceRounds
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
  Backlog halfway_, at_last_;
  bool finished_ = false, stalled_ = false, idle_retry_ = false;
  bool reported_ = false;  // nothing changed since the decision point
  double wake_at_ = kNever;
  std::int64_t round_ = -1;                              // kRounds: index of the boundary `now`
  double last_round_end_ = 0.0, this_round_end_ = -1.0;  // kReferenceRounds: cur_start, cur_end (< 0: unset)
  double job_seconds_ = 0.0, job_seconds_time_ = 0.0;
  std::vector<double> busy_seconds_;    // [G] finished runs
  std::vector<double> shared_seconds_;  // [G] of those, seconds that two jobs held one GPU
  std::vector<double> job_seconds_at_arrival_, job_seconds_at_end_;  // [J]
  std::vector<double> left_at_;                                      // [J]
  std::vector<Event> events_;
  // What the auditor has to say of this moment (env/sim/auditor.hpp), where there is one.
  void Audit(bool within_round = false) {
    if (auditor_) [[unlikely]]
      AuditNow(within_round);
  }
  void AuditNow(bool within_round);
  std::optional<Auditor> auditor_;
  std::size_t audited_ = 0;  // of state_.changed, how many it was shown
};

}  // namespace berth
