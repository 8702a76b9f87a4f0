#include "env/features/latency/latency.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

std::span<const Field<LatencySettings>> LatencySettings::Fields() {
  using S = LatencySettings;
  static const std::array kFields = {
      Field<S>{"seconds", &S::seconds, "from what a decision sees to its effect", 0, 86400},
      Field<S>{"cadence", &S::cadence, "events: whenever the clock has a decision; periodic; or both"},
      Field<S>{"period_s", &S::period_s, "periodic, both: decisions at multiples of it", 1},
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

void LatencyEngine::Start(Simulator& sim) {
  sim.state_.latency = Owned<LatencyState>::Make({});
  if (sim.scenario().data().features.latency->cadence != "events")
    sim.timers_.Push({0.0, TimerKind::kCadence, 0});
}

bool LatencyEngine::Defers(Simulator& sim, const Decision& decision) {
  LatencyState& state = *sim.state_.latency;
  const double seconds = sim.scenario().data().features.latency->seconds;
  if (state.applying) {
    state.wake_at = decision.wake_at;
    return false;
  }
  BERTH_CHECK(state.effect_at == kNever, "a decision is under way until ", state.effect_at);
  state.decided_at = sim.now();
  state.entries = static_cast<int>(decision.commands.size() + decision.controls.size());
  state.overtaken = 0;
  if (seconds <= 0.0) {
    state.wake_at = decision.wake_at;
    return false;
  }
  state.pending = decision;
  state.effect_at = sim.now() + seconds;
  sim.timers_.Push({state.effect_at, TimerKind::kEffect, 0});
  return true;
}

void LatencyEngine::Notice(Simulator& sim, TimerKind kind) {
  if (kind != TimerKind::kEffect && kind != TimerKind::kCadence) sim.state_.latency->events = true;
}

void LatencyEngine::TakeEffect(Simulator& sim) {
  LatencyState& state = *sim.state_.latency;
  state.effect_at = kNever;
  ++state.effects;
  for (;;) {
    const ApplyResult result = sim.Validate(state.pending);
    if (result.ok()) break;
    ++state.dropped, ++state.overtaken;
    if (result.rule == Rule::kControl) {
      state.pending.controls.erase(state.pending.controls.begin() + result.command);
    } else {
      state.pending.commands.erase(state.pending.commands.begin() + result.command);
    }
  }
  state.applying = true;
  const ApplyResult applied = sim.Apply(state.pending);
  state.applying = false;
  BERTH_CHECK(applied.ok(), Explain(applied, state.pending, sim));
  // Not everything went as decided: who follows looks at all again, unless nothing was decided.
  if (state.entries > 0) sim.state_.changed_since = 0;
}

bool LatencyEngine::Due(Simulator& sim) {
  const LatencySettings& settings = *sim.scenario().data().features.latency;
  SimState& s = sim.state_;
  LatencyState& state = *s.latency;
  const bool rounds = sim.scenario().data().clock.kind == ClockKind::kRounds;
  // Under rounds every boundary is the clock's; otherwise what brought us here beside our own timers.
  state.events = state.events || rounds || !s.arrived.empty() || !s.completed.empty();
  if (state.effect_at <= s.now) TakeEffect(sim);
  if (state.wake_at <= s.now) state.events = true, state.wake_at = kNever;  // it asked to be asked by now
  const bool tick = settings.cadence != "events" && s.now >= state.next_tick;
  const bool due = state.effect_at == kNever && (tick || (state.events && settings.cadence != "periodic"));
  if (sim.window_left_ == 0) return true;  // all is over
  if (!due) {
    state.completed.insert(state.completed.end(), s.completed.begin(), s.completed.end());
    state.segments.insert(state.segments.end(), s.segments.begin(), s.segments.end());
    s.completed.clear(), s.segments.clear();
    return false;
  }
  state.events = false;
  if (tick) {
    state.next_tick = (std::floor(s.now / settings.period_s) + 1.0) * settings.period_s;
    sim.timers_.Push({state.next_tick, TimerKind::kCadence, 0});
  }
  s.completed.insert(s.completed.begin(), state.completed.begin(), state.completed.end());
  s.segments.insert(s.segments.begin(), state.segments.begin(), state.segments.end());
  state.completed.clear(), state.segments.clear();
  return true;
}

std::string LatencyViolation(const InvariantInput& in) {
  const SimState& s = in.state;
  if (!s.latency || s.latency->effect_at >= s.now) return "";
  return Join("a decision should have taken effect at ", s.latency->effect_at);
}

}  // namespace berth
