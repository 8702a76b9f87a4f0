// The scheduler itself takes time, and decides at its own cadence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/features/field.hpp"
#include "env/sim/decision.hpp"
#include "env/sim/sim_state.hpp"
#include "env/sim/timers.hpp"

namespace berth {

// A decision on what is seen at t takes effect at t + seconds; under rounds at the first boundary then. Until
// it does the scheduler is busy: the world goes on, and it is asked again after that. Entries that events
// have overtaken meanwhile (the job is gone or has stopped, its GPUs are) are dropped and counted.
struct LatencySettings {
  double seconds = 0.0;
  std::string cadence = "events";
  double period_s = 360.0;

  static constexpr const char* kHelp = "the scheduler itself takes time, and decides at its own cadence";
  static std::span<const Field<LatencySettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

struct LatencyState {
  // For schedulers.
  std::int64_t dropped = 0;    // entries so far: commands and controls
  std::int64_t effects = 0;    // decisions that took effect late
  double decided_at = kNever;  // s, when the decision that is in effect was made; kNever = none is
  int entries = 0;             // commands and controls of it
  int overtaken = 0;           // of those, dropped

  // Of the engine.
  Decision pending;           // as decided
  double effect_at = kNever;  // s, kNever = none is pending
  bool applying = false;
  bool events = false;         // since the last decision point
  double wake_at = kNever;     // s, of the decision last carried out
  double next_tick = 0.0;      // s, cadences with a period
  std::vector<int> completed;  // since the last decision point, but for the last advance
  std::vector<Segment> segments;
};

class Simulator;
struct InvariantInput;

class LatencyEngine {
 public:
  static void Start(Simulator& simulator);
  // Keeps a legal decision for later, unless it takes effect at once.
  static bool Defers(Simulator& simulator, const Decision& decision);
  static void Notice(Simulator& simulator, TimerKind kind);  // a timer calls for a decision
  // The clock has come to one of its decision points: is the scheduler asked now?
  static bool Due(Simulator& simulator);

 private:
  static void TakeEffect(Simulator& simulator);
};

// What is pending is still to come.
std::string LatencyViolation(const InvariantInput& input);

}  // namespace berth
