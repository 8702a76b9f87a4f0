// Failures and repairs of GPUs (failures.hpp). Every device draws from a stream of its own, so
// when one fails does not depend on what schedulers did; a GPU ages whether it is busy or not.
#include "env/features/failures.hpp"

#include <array>
#include <utility>

#include "env/simulator.hpp"

namespace berth {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

std::span<const Field<FailureSettings>> FailureSettings::Fields() {
  using S = FailureSettings;
  static const std::array kFields = {
      Field<S>{"mtbf_h", &S::mtbf_h, "mean hours in service before a GPU fails", 1e-3},
      Field<S>{"repair_h", &S::repair_h, "mean hours of a repair", 1e-3},
  };
  return kFields;
}

void FailureSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("failures", scenario.clock);
}

void FailureEngine::Start(Simulator& sim) {
  FailureState state;
  for (int device = 0; device < sim.scenario().num_gpus(); ++device) {
    state.streams.emplace_back(sim.scenario().data().seed, Purpose::kFailures, Split::kTrain,
                               static_cast<std::uint32_t>(device));
  }
  sim.state_.failures = Owned<FailureState>::Make(std::move(state));
  for (int device = 0; device < sim.scenario().num_gpus(); ++device) Await(sim, device);
}

void FailureEngine::Await(Simulator& sim, int device) {
  const FailureSettings& settings = *sim.scenario().data().features.failures;
  const double hours = sim.state_.failures->streams[U(device)].Exponential(settings.mtbf_h);
  sim.timers_.Push({sim.now() + 3600.0 * hours, TimerKind::kFailure, device});
}

bool FailureEngine::OnFailure(Simulator& sim, int device) {
  const FailureSettings& settings = *sim.scenario().data().features.failures;
  SimState& s = sim.state_;
  const int job = s.device_job[U(device)];
  sim.SetService(device, kFailed, true);
  if (job >= 0 && s.phase[U(job)] == JobPhase::kRunning) {
    const int partner = s.partner[U(job)];
    sim.Interrupt(job);
    if (partner >= 0 && s.phase[U(partner)] == JobPhase::kRunning) sim.Interrupt(partner);
  }
  const double hours = s.failures->streams[U(device)].Exponential(settings.repair_h);
  sim.timers_.Push({s.now + 3600.0 * hours, TimerKind::kRepair, device});
  return true;
}

bool FailureEngine::OnRepair(Simulator& sim, int device) {
  sim.SetService(device, kFailed, false);
  Await(sim, device);
  return true;
}

}  // namespace berth
