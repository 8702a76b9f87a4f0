// Sums over jobs that rewards are made of, kept true from one decision point to the next without walking the
// jobs: what changes is who arrived and who left. A job is in the system from its arrival on, whether or not
// it waits for others, until it is done or turned away.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "env/sim/simulator.hpp"

namespace berth {

// What a second in the system adds to the job's slowdown, bounded at 10 s.
double SlowdownPerSecond(const Scenario& scenario, int job);
// GPUs that it asks for.
double DemandPerSecond(const Scenario& scenario, int job);

// Thread rule: one thread at a time. Allocates in Begin alone.
class RunningSums {
 public:
  // The sums as they are now, from the jobs themselves.
  void Begin(const Simulator& simulator);
  // After every AdvanceToDecision.
  void Observe(const Simulator& simulator);

  // Sum over arrived jobs of (time in the system so far) / max(run time alone on the fastest type, 10 s).
  double slowdown() const { return slowdown_; }
  // Sum over arrived jobs of (time in the system so far) x GPUs asked for.
  double demand() const { return demand_; }
  // Arrived jobs that were not done by their deadline, which has passed, or were turned away and had one.
  int misses() const { return misses_; }

 private:
  void TakeIn(const Simulator& simulator);  // who has arrived since
  void Arrive(const Simulator& simulator, int job);
  void Leave(const Simulator& simulator, int job);  // done or turned away
  void PassDeadlines(const Simulator& simulator);
  void TurnAway(const Simulator& simulator, int job);  // where it is, and was not yet

  double time_ = 0.0, slowdown_ = 0.0;
  double growth_ = 0.0;  // of slowdown_ a second, by the jobs in the system
  double demand_ = 0.0, demand_growth_ = 0.0;
  int seen_ = 0;  // jobs that had arrived
  int in_system_ = 0;
  int misses_ = 0;
  std::vector<std::pair<double, int>> deadlines_;  // heap, earliest first: of arrived jobs, not yet passed
  std::vector<std::uint8_t> rejected_;             // [J] taken out
};

}  // namespace berth
