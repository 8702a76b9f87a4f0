// What happens in the cluster by itself: devices leave service and come back, jobs are interrupted.
#include "env/sim/timers.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/elasticity/elasticity.hpp"
#include "env/features/estimates/estimates.hpp"
#include "env/features/failures/failures.hpp"
#include "env/features/forecast/forecast.hpp"
#include "env/features/latency/latency.hpp"
#include "env/features/monitoring/monitoring.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/features/stages/stages.hpp"
#include "env/features/topology/placement_engine.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

// Decision points without anything else before a run counts as stalled.
constexpr int kIdleTimers = 10'000;

}  // namespace

void Simulator::StartTimers() {
  SimState& s = state_;
  s.types = scenario_.data().cluster.types;
  s.out_of_service.assign(U(scenario_.num_gpus()), 0);
  for (auto* column : {&s.safe_steps, &s.lost_steps}) column->assign(U(scenario_.num_jobs()), 0.0);
  s.interruptions.assign(U(scenario_.num_jobs()), 0);
  const Features& features = scenario_.data().features;
  if (features.topology) PlacementEngine::Start(*this);
  if (features.partitions) PartitionEngine::Start(*this);
  if (features.sharing) SharingEngine::Start(*this);
  if (features.failures) FailureEngine::Start(*this);
  if (features.checkpoints) CheckpointEngine::Start(*this);
  if (features.elasticity) ElasticityEngine::Start(*this);
  if (features.latency) LatencyEngine::Start(*this);
  if (features.power) PowerEngine::Start(*this);
  if (features.services) ServiceEngine::Start(*this);
  if (features.stages) StageEngine::Start(*this);
  if (features.estimates) EstimateEngine::Start(*this);
  if (features.monitoring) MonitoringEngine::Start(*this);
  if (features.forecast) ForecastEngine::Start(*this);
  if (s.power) PowerEngine::Settle(*this);  // what services began with
}

// A scheduler that wakes itself again and again is no better than timers that do: jobs that can never run
// would keep the run going for ever.
bool Simulator::TimersAlone(double next) {
  if (!state_.running.empty() || ArrivalsRemain() || next == kNever) {
    idle_timers_ = 0;
    return false;
  }
  return ++idle_timers_ > kIdleTimers;
}

bool Simulator::FireTimers() {
  bool decide = false;
  while (NextTimer() <= state_.now) {
    const Timer timer = timers_.top();
    timers_.Pop();
    const bool due = Fire(timer);
    if (due && state_.latency) LatencyEngine::Notice(*this, timer.kind);
    decide = due || decide;
  }
  return decide;
}

// A decision is due where schedulers may want to do something about it.
bool Simulator::Fire(const Timer& timer) {
  switch (timer.kind) {
    case TimerKind::kRepair:
      return FailureEngine::OnRepair(*this, timer.index);
    case TimerKind::kFailure:
      return FailureEngine::OnFailure(*this, timer.index);
    case TimerKind::kServices:
      return ServiceEngine::OnTimer(*this);
    case TimerKind::kNotice:
      return FailureEngine::OnNotice(*this, timer.index);
    case TimerKind::kSave:
      return CheckpointEngine::OnSave(*this, timer.index, timer.version);
    case TimerKind::kSaved:
      return CheckpointEngine::OnSaved(*this, timer.index, timer.version);
    case TimerKind::kEffect:
    case TimerKind::kCadence:
      return true;
    case TimerKind::kHeat:
      return PowerEngine::OnTimer(*this, timer);
    case TimerKind::kReconfigured:
      return PartitionEngine::OnReconfigured(*this, timer.index);
    case TimerKind::kMonitor:
      return MonitoringEngine::OnTimer(*this);
  }
  return false;
}

void Simulator::SetService(int device, OutOfService reason, bool out) {
  SimState& s = state_;
  std::uint8_t& reasons = s.out_of_service[U(device)];
  const bool was_out = reasons != 0;
  reasons = static_cast<std::uint8_t>(out ? reasons | reason : reasons & ~reason);
  const bool stays = reason == kServing || reason == kReconfiguring;  // what works there works on
  if (out && !stays && s.services) ServiceEngine::Lose(*this, device);
  if ((reasons != 0) == was_out) return;
  const int type = scenario_.TypeOfDevice(device);
  const int change = was_out ? 1 : -1;
  s.types[U(type)].count += change;
  if (s.device_job[U(device)] < 0) {
    s.free_gpus[U(type)] += change;
    free_bits_[U(device / 64)] ^= std::uint64_t{1} << (device % 64);
    if (s.placement) PlacementEngine::Service(*this, device, was_out);
  }
  s.changed_since = 0;  // nobody follows: whoever remembers what fits looks at everything again
  Log(s.now, was_out ? EventKind::kUp : EventKind::kDown, type, -1, device);
}

double Simulator::KeptSteps(int job) const {
  return state_.safe_steps[U(job)];
}

void Simulator::Interrupt(int job) {
  SimState& s = state_;
  const double done = s.AttainedSteps(job);
  s.steps_done[U(job)] = std::min(done, KeptSteps(job));
  s.lost_steps[U(job)] += done - s.steps_done[U(job)];
  Log(s.now, EventKind::kInterrupt, s.on_type[U(job)], job, s.Devices(job).front());
  EndRun(job, s.now);
  Release(job);
  ++s.interruptions[U(job)];
  s.phase[U(job)] = JobPhase::kWaiting;
  s.waiting.Insert(job);
}

}  // namespace berth
