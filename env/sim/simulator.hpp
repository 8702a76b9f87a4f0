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
// reference_rounds each counts its whole steps at its pair rate (Gavel's _get_num_steps) and has its own
// finish. A shared GPU is busy once: BusySeconds, and so utilisation, cost and energy, count devices, not
// jobs; each of the two attains every second of its own (AttainedSeconds).
//
// Thread rule: one thread at a time; copies are independent.
#pragma once

#include <string>
#include <utility>

#include "env/sim/cluster_view.hpp"
#include "env/sim/core.hpp"

namespace berth {

class Simulator : private SimCore {
 public:
  explicit Simulator(Scenario scenario, SimulatorOptions options = {})
      : SimCore(std::move(scenario), options) {}

  // Runs to the next decision point. False when the window's jobs are done or rejected, or when nothing more
  // can happen (stalled(): jobs wait, nothing runs, nothing will arrive).
  using SimCore::AdvanceToDecision;
  // Validates the whole decision against the present state, then carries it out. On failure nothing changes.
  using SimCore::Apply;
  using SimCore::Validate;  // the first half of it: nothing changes

  using SimCore::now;
  using SimCore::scenario;
  using SimCore::View;
  const SimState& state() const { return SimCore::state(); }
  using SimCore::finished;
  using SimCore::stalled;

  // Is a job of the scenario still to come? Not for schedulers: the MDP's mask and the drivers ask.
  using SimCore::arrivals_remain;
  // Of a run that has stalled: was it not for want of starts?
  using SimCore::starts_were_lost;
  // Will the cluster itself change, as by a repair?
  using SimCore::timers_remain;

  using SimCore::events;     // empty unless keep_events
  using SimCore::signature;  // hash of the event log so far

  // -- accumulated for metrics and rewards, exact at `now`
  using SimCore::arrived_jobs;
  using SimCore::backlog_at_last;
  using SimCore::backlog_halfway;
  using SimCore::BusySeconds;
  using SimCore::jobs_in_system;
  using SimCore::JobSeconds;
  using SimCore::JobSecondsAtArrival;
  using SimCore::JobSecondsAtEnd;
  using SimCore::LeftAt;

  const SimCore& core() const { return *this; }  // as features see it
};

inline ClusterView SimCore::View(Knowledge granted) const {
  return ClusterView(scenario_, state_, granted);
}

// "job 7 needs 4 GPUs of type k80, 2 are free": which rule, in words, with operands.
std::string Explain(const ApplyResult& result, const Decision& decision, const SimCore& core);
inline std::string Explain(const ApplyResult& result, const Decision& decision, const Simulator& simulator) {
  return Explain(result, decision, simulator.core());
}

// The checker that knows nothing of how the state came about (env/sim/invariants.hpp): capacity, whole gangs,
// bookkeeping. "" when all hold. Called after every decision in debug builds and tests, where an auditor
// (env/sim/auditor.hpp) also keeps books of time, work, GPU-seconds and job-seconds from each to the next.
std::string CheckInvariants(const SimCore& core);
inline std::string CheckInvariants(const Simulator& simulator) {
  return CheckInvariants(simulator.core());
}

}  // namespace berth
