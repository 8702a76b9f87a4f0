#include "env/features/latency/latency.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/features/table.hpp"
#include "env/sim/core.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

std::span<const Field<LatencySettings>> LatencySettings::Fields() {
  using S = LatencySettings;
  static const std::array kFields = {
      Field<S>{"seconds", &S::seconds, "from what a decision sees to its effect", 0, 86400},
      Field<S>{"cadence", &S::cadence, "events: whenever the clock has a decision; periodic; or both"},
      Field<S>{"period_s", &S::period_s,
               "periodic, both: decisions at multiples of it, or as soon as the scheduler is not busy", 1},
      Field<S>{"launch_s", &S::launch_s, "that a start holds its GPUs before the job makes progress", 0,
               86400},
  };
  return kFields;
}

void LatencySettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("latency", scenario.clock);
  static const std::vector<std::string> kNames = {"events", "periodic", "both"};
  if (std::find(kNames.begin(), kNames.end(), cadence) == kNames.end()) {
    throw Error(Join("feature 'latency': cadence: expected events, periodic or both, found '", cadence, "'",
                     DidYouMean(cadence, kNames)));
  }
}

std::unique_ptr<FeatureState> LatencySettings::MakeState(const Scenario&) const {
  return std::make_unique<LatencyState>(*this);
}

void LatencyState::Start(SimCore& core) {
  if (settings_->cadence != "events") core.SetTimer({0.0, kCadence, 0});
}

bool LatencyState::Defers(SimCore& core, const Decision& decision) {
  if (applying_) {
    wake_at_ = decision.wake_at;
    return false;
  }
  BERTH_CHECK(effect_at == kNever, "a decision is under way until ", effect_at);
  decided_at = core.now();
  entries = static_cast<int>(decision.commands.size() + decision.controls.size());
  overtaken = 0;
  if (settings_->seconds <= 0.0) {
    wake_at_ = decision.wake_at;
    return false;
  }
  pending_ = decision;
  effect_at = core.now() + settings_->seconds;
  core.SetTimer({effect_at, kEffect, 0});
  return true;
}

void LatencyState::StartCost(SimCore&, int, int, RunStart& start) {
  if (!start.resizes) start.overhead_s += settings_->launch_s;
}

void LatencyState::OnTimerDue(SimCore&, TimerKind kind) {
  if (kind != kEffect && kind != kCadence) events_ = true;
}

void LatencyState::TakeEffect(SimCore& core) {
  effect_at = kNever;
  ++effects;
  for (;;) {
    const ApplyResult result = core.Validate(pending_);
    if (result.ok()) break;
    ++dropped, ++overtaken;
    if (result.rule == Rule::kControl) {
      pending_.controls.erase(pending_.controls.begin() + result.command);
    } else {
      pending_.commands.erase(pending_.commands.begin() + result.command);
    }
  }
  applying_ = true;
  const ApplyResult applied = core.Apply(pending_);
  applying_ = false;
  BERTH_CHECK(applied.ok(), Explain(applied, pending_, core));
  // Not everything went as decided: who follows looks at all again, unless nothing was decided.
  if (entries > 0) core.state().changed_since = 0;
}

bool LatencyState::Due(SimCore& core) {
  SimState& s = core.state();
  const bool rounds = core.scenario().data().clock.kind == ClockKind::kRounds;
  // Under rounds every boundary is the clock's; otherwise what brought us here beside our own timers.
  events_ = events_ || rounds || !s.arrived.empty() || !s.completed.empty();
  if (effect_at <= s.now) TakeEffect(core);
  if (wake_at_ <= s.now) events_ = true, wake_at_ = kNever;  // it asked to be asked by now
  const bool tick = settings_->cadence != "events" && s.now >= next_tick_;
  const bool due = effect_at == kNever && (tick || (events_ && settings_->cadence != "periodic"));
  if (core.over()) return true;
  if (!due) {
    completed_.insert(completed_.end(), s.completed.begin(), s.completed.end());
    segments_.insert(segments_.end(), s.segments.begin(), s.segments.end());
    s.completed.clear(), s.segments.clear();
    return false;
  }
  events_ = false;
  if (tick) {
    double ticks = std::floor(s.now / settings_->period_s) + 1.0;
    while (ticks * settings_->period_s <= s.now) ++ticks;  // the quotient may round down
    next_tick_ = ticks * settings_->period_s;
    core.SetTimer({next_tick_, kCadence, 0});
  }
  s.completed.insert(s.completed.begin(), completed_.begin(), completed_.end());
  s.segments.insert(s.segments.begin(), segments_.begin(), segments_.end());
  completed_.clear(), segments_.clear();
  return true;
}

std::string LatencyState::Violation(const InvariantInput& in) const {
  if (effect_at >= in.state.now) return "";
  return Join("a decision should have taken effect at ", effect_at);
}

void LatencyState::Measure(const SimCore&, std::span<double> figures) const {
  figures[0] = static_cast<double>(dropped);
}

FeatureModule LatencyFeature() {
  static constexpr TimerKind kTimers[] = {kEffect, kCadence};
  static constexpr MetricInfo kMetrics[] = {
      {"dropped_entries", "entries of decisions that events overtook", MetricInfo::Place::kJobs}};
  static constexpr BlockInfo (*kBlocks[])() = {LatencyBlock};
  FeatureModule module = ModuleOf<LatencySettings>();
  module.timers = kTimers;
  module.metrics = kMetrics;
  module.blocks = kBlocks;
  return module;
}

}  // namespace berth
