// What happens in the cluster by itself: devices leave service and come back, jobs are interrupted.
#include "env/sim/timers.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/sim/core.hpp"

namespace berth {
namespace {

// Decision points without anything else before a run counts as stalled.
constexpr int kIdleTimers = 10'000;

}  // namespace

void SimCore::StartFeatures() {
  SimState& s = state_;
  s.types = scenario_.data().cluster.types;
  s.out_of_service.assign(U(scenario_.num_gpus()), 0);
  for (auto* column : {&s.safe_steps, &s.lost_steps}) column->assign(U(scenario_.num_jobs()), 0.0);
  s.interruptions.assign(U(scenario_.num_jobs()), 0);
  s.blocked.assign(U(scenario_.num_jobs()), 0);
  if (scenario_.divides_gpus()) s.parts.resize(U(scenario_.num_gpus()));
  for (const Features::On& on : scenario_.data().features.on()) {
    FeatureState& feature = s.features.Add(*on.module, on.settings->MakeState(scenario_));
    in_parts_ = in_parts_ || (feature.Listens() & BitOf(Hook::kSettle)) != 0;
    feature.Start(*this);
  }
  Settle();  // what they began with
}

// A scheduler that wakes itself again and again is no better than timers that do: jobs that can never run
// would keep the run going for ever.
bool SimCore::TimersAlone(double next) {
  if (!state_.running.empty() || ArrivalsRemain() || next == kNever) {
    EndIdleRow();
    return false;
  }
  return ++idle_timers_ > kIdleTimers;
}

// Whoever does start what fits has a start in any tenth of so many; whoever has given a job up has none.
bool SimCore::starts_were_lost() const {
  return stalled_ && idle_timers_ > kIdleTimers && idle_timers_ - idle_at_start_ <= kIdleTimers / 10;
}

bool SimCore::FireTimers() {
  bool decide = false;
  while (NextTimer() <= state_.now) {
    TimerQueue& queue = !watches_.empty() && watches_.top().time < NextDeed() ? watches_ : timers_;
    const Timer timer = queue.top();
    queue.Pop();
    const bool due = Fire(timer);
    if (!due) continue;
    decide = true;
    for (FeatureState& feature : state_.features.Of(Hook::kOnTimerDue)) feature.OnTimerDue(*this, timer.kind);
  }
  return decide;
}

// A decision is due where schedulers may want to do something about it.
bool SimCore::Fire(const Timer& timer) {
  for (const FeatureStates::Entry& entry : state_.features.entries()) {
    const std::span<const TimerKind> own = entry.module->timers;
    if (std::find(own.begin(), own.end(), timer.kind) != own.end()) return entry.state->OnTimer(*this, timer);
  }
  return false;
}

void SimCore::SetService(int device, OutOfService reason, bool out) {
  SimState& s = state_;
  std::uint8_t& reasons = s.out_of_service[U(device)];
  const bool was_out = reasons != 0, left = (reasons & kLeaving) != 0;
  reasons = static_cast<std::uint8_t>(out ? reasons | reason : reasons & ~reason);
  s.num_leaving += static_cast<int>((reasons & kLeaving) != 0) - static_cast<int>(left);
  if (out && reason != kHeld && reason != kVacating) {
    for (FeatureState& feature : s.features.Of(Hook::kOnLost)) feature.OnLost(*this, device);
  }
  if ((reasons != 0) == was_out) return;
  const int type = scenario_.TypeOfDevice(device);
  const int change = was_out ? 1 : -1;
  s.types[U(type)].count += change;
  if (s.device_job[U(device)] < 0) {
    s.free_gpus[U(type)] += change;
    free_bits_[U(device / 64)] ^= std::uint64_t{1} << (device % 64);
    for (FeatureState& feature : s.features.Of(Hook::kOnIdle)) feature.OnIdle(*this, device, was_out);
  }
  s.changed_since = 0;  // nobody follows: whoever remembers what fits looks at everything again
  Log(s.now, was_out ? EventKind::kUp : EventKind::kDown, type, -1, device);
  if (options_.keep_events) events_.back().reasons = was_out ? static_cast<std::uint8_t>(reason) : reasons;
}

void SimCore::Interrupt(int job) {
  SimState& s = state_;
  const double done = s.AttainedSteps(job);
  s.steps_done[U(job)] = std::min(done, s.safe_steps[U(job)]);
  s.lost_steps[U(job)] += done - s.steps_done[U(job)];
  Log(s.now, EventKind::kInterrupt, s.on_type[U(job)], job, s.Devices(job).front());
  EndRun(job, s.now);
  Release(job);
  ++s.interruptions[U(job)];
  s.phase[U(job)] = JobPhase::kWaiting;
  s.waiting.Insert(job);
}

void SimCore::Save(int job) {
  double& safe = state_.safe_steps[U(job)];
  if (state_.steps_done[U(job)] > safe) EndIdleRow();
  safe = state_.steps_done[U(job)];
}

}  // namespace berth
