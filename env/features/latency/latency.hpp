// The scheduler itself takes time, and decides at its own cadence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

// A decision on what is seen at t takes effect at t + seconds; under rounds at the first boundary then. Until
// it does the scheduler is busy: the world goes on, and it is asked again after that. Entries that events
// have overtaken meanwhile (the job is gone or has stopped, its GPUs are) are dropped and counted.
//
// What carries a decision out takes time too, of which nobody waits for another's: a start holds its GPUs
// for `launch_s` before the job makes progress, on top of what the start itself costs. A resize launches
// nothing.
struct LatencySettings final : SettingsOf<LatencySettings> {
  double seconds = 0.0;
  std::string cadence = "events";
  double period_s = 360.0;
  double launch_s = 0.0;

  static constexpr const char* kName = "latency";
  static constexpr const char* kHelp = "the scheduler itself takes time, and decides at its own cadence";
  static std::span<const Field<LatencySettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  double DecisionDelay() const override { return seconds; }
  double LaunchSeconds() const override { return launch_s; }
};

inline constexpr TimerKind kEffect{6};   // a decision has been computed
inline constexpr TimerKind kCadence{7};  // a scheduler that decides periodically is due

class LatencyState final : public StateOf<LatencyState, LatencySettings> {
 public:
  explicit LatencyState(const LatencySettings& settings) : settings_(&settings) {}

  // For schedulers.
  std::int64_t dropped = 0;    // entries so far: commands and controls
  std::int64_t effects = 0;    // decisions that took effect late
  double decided_at = kNever;  // s, when the decision that is in effect was made; kNever = none is
  int entries = 0;             // commands and controls of it
  int overtaken = 0;           // of those, dropped

  void Start(SimCore& core) override;
  bool Defers(SimCore& core, const Decision& decision) override;  // unless it takes effect at once
  void StartCost(SimCore& core, int job, int type, RunStart& start) override;
  bool OnTimer(SimCore&, const Timer&) override { return true; }
  void OnTimerDue(SimCore& core, TimerKind kind) override;
  bool Due(SimCore& core) override;
  std::string Violation(const InvariantInput& input) const override;  // what is pending is still to come
  void Measure(const SimCore& core, std::span<double> figures) const override;

  double effect_at = kNever;  // s, of the decision that is pending; kNever = none is

 private:
  void TakeEffect(SimCore& core);

  const LatencySettings* settings_;
  Decision pending_;  // as decided
  bool applying_ = false;
  bool events_ = false;         // since the last decision point
  double wake_at_ = kNever;     // s, of the decision last carried out
  double next_tick_ = 0.0;      // s, cadences with a period
  std::vector<int> completed_;  // since the last decision point, but for the last advance
  std::vector<Segment> segments_;
};

BlockInfo LatencyBlock();  // what observations show of it

}  // namespace berth
