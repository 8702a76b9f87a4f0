#include "env/features/checkpoints/checkpoints.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/features/failures/failures.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

constexpr double kShortestInterval = 1.0;  // s

}  // namespace

std::span<const Field<CheckpointSettings>> CheckpointSettings::Fields() {
  using S = CheckpointSettings;
  static const std::array kFields = {
      Field<S>{"gb", &S::gb, "GB of a job's state, where its type has no checkpoint_gb"},
      Field<S>{"write_gb_s", &S::write_gb_s, "GB/s to storage", 1e-6},
      Field<S>{"read_gb_s", &S::read_gb_s, "GB/s from storage", 1e-6},
      Field<S>{"shared", &S::shared, "true: one storage for all, one transfer after another"},
      Field<S>{"cold_start_s", &S::cold_start_s, "seconds of every start before anything is loaded"},
      Field<S>{"interval", &S::interval,
               "s of progress between periodic checkpoints, none, or by the time between failures: young, "
               "optimal (Daly)"},
      Field<S>{"mtbf_h", &S::mtbf_h,
               "hours between failures of a GPU that young and optimal count on; 0 = "
               "what the feature failures has"},
  };
  return kFields;
}

void CheckpointSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("checkpoints", scenario.clock);
  if (interval == "none") return;
  if (interval == "young" || interval == "optimal") {
    if (mtbf_h > 0.0 || scenario.features.failures) return;
    throw Error(Join("feature 'checkpoints': interval=", interval,
                     ": expected mtbf_h or the feature failures, found neither"));
  }
  static const std::vector<std::string> kNames = {"none", "young", "optimal"};
  double seconds = 0.0;
  try {
    seconds = ParseNumber(interval, "");
  } catch (const Error&) {
    throw Error(Join("feature 'checkpoints': interval: expected seconds, none, young or optimal, found '",
                     interval, "'", DidYouMean(interval, kNames)));
  }
  if (!(seconds >= kShortestInterval)) {
    throw Error(Join("feature 'checkpoints': interval: expected at least ", kShortestInterval,
                     " s, none, young or optimal, found ", interval));
  }
}

double YoungInterval(double save_s, double mtbf_s) {
  return std::sqrt(2.0 * save_s * mtbf_s);
}

double DalyInterval(double save_s, double mtbf_s) {
  if (save_s >= 2.0 * mtbf_s) return mtbf_s;
  const double x = save_s / (2.0 * mtbf_s);
  return YoungInterval(save_s, mtbf_s) * (1.0 + std::sqrt(x) / 3.0 + x / 9.0) - save_s;
}

void CheckpointEngine::Start(Simulator& sim) {
  const ScenarioData& data = sim.scenario().data();
  const CheckpointSettings& settings = *data.features.checkpoints;
  CheckpointState state;
  for (int job = 0; job < sim.scenario().num_jobs(); ++job) {
    const std::vector<double>& sizes = data.traits.checkpoint_gb;
    const double gb = sizes.empty() ? settings.gb : sizes[U(data.jobs.job_type[U(job)])];
    state.save_s.push_back(gb / settings.write_gb_s);
    state.restore_s.push_back(gb / settings.read_gb_s);
  }
  state.saved_at.assign(state.save_s.size(), kNever);
  state.run.assign(state.save_s.size(), 0);
  state.interval_s.assign(state.save_s.size(), 0.0);
  state.due.assign(state.save_s.size(), kNever);
  sim.state_.checkpoints = Owned<CheckpointState>::Make(std::move(state));
}

double CheckpointEngine::Transfer(Simulator& sim, double seconds) {
  if (!sim.scenario().data().features.checkpoints->shared) return seconds;
  double& free_at = sim.state_.checkpoints->storage_free_at;
  free_at = std::max(free_at, sim.now()) + seconds;
  return free_at - sim.now();
}

double CheckpointEngine::StartCost(Simulator& sim, int job) {
  SimState& s = sim.state_;
  CheckpointState& state = *s.checkpoints;
  double seconds = sim.scenario().data().features.checkpoints->cold_start_s, transfer = 0.0;
  if (s.steps_done[U(job)] > s.safe_steps[U(job)]) {  // by the stop before this start
    transfer += state.save_s[U(job)];
    state.saved_at[U(job)] = s.now;
  }
  if (s.steps_done[U(job)] > 0.0) transfer += state.restore_s[U(job)];
  if (transfer > 0.0) seconds += Transfer(sim, transfer);
  return seconds;
}

// Of a job where it now stands.
double CheckpointEngine::Interval(const Simulator& sim, int job) {
  const CheckpointSettings& settings = *sim.scenario().data().features.checkpoints;
  if (settings.interval == "none") return kNever;
  const bool young = settings.interval == "young";
  if (!young && settings.interval != "optimal") return ParseNumber(settings.interval, "interval");
  const double rate = settings.mtbf_h > 0.0 ? sim.state().Width(job) / (3600.0 * settings.mtbf_h)
                                            : FailureEngine::RateOf(sim, job);
  if (rate <= 0.0) return kNever;
  const double save_s = sim.state().checkpoints->save_s[U(job)];
  const double interval = young ? YoungInterval(save_s, 1.0 / rate) : DalyInterval(save_s, 1.0 / rate);
  return std::max(interval, kShortestInterval);
}

void CheckpointEngine::OnStart(Simulator& sim, int job, bool resizes) {
  CheckpointState& state = *sim.state_.checkpoints;
  const std::uint32_t run = ++state.run[U(job)];
  const double interval = state.interval_s[U(job)] = Interval(sim, job);
  if (interval == kNever) return;
  // One that a resize breaks off begins anew.
  const double left = resizes ? std::clamp(state.due[U(job)] - sim.now(), 0.0, interval) : interval;
  state.due[U(job)] = sim.state_.progress_from[U(job)] + left;
  sim.timers_.Push({state.due[U(job)], TimerKind::kSave, job, run});
}

bool CheckpointEngine::OnSave(Simulator& sim, int job, std::uint32_t run) {
  SimState& s = sim.state_;
  if (s.phase[U(job)] != JobPhase::kRunning || s.checkpoints->run[U(job)] != run) return false;
  s.steps_done[U(job)] = s.AttainedSteps(job);
  const double done = s.now + Transfer(sim, s.checkpoints->save_s[U(job)]);
  s.progress_from[U(job)] = std::max(s.progress_from[U(job)], done);
  sim.SetRate(job, s.rate[U(job)]);  // ends later: its completion is queued anew
  sim.timers_.Push({done, TimerKind::kSaved, job, run});
  return false;
}

bool CheckpointEngine::OnSaved(Simulator& sim, int job, std::uint32_t run) {
  SimState& s = sim.state_;
  CheckpointState& state = *s.checkpoints;
  if (s.phase[U(job)] != JobPhase::kRunning || state.run[U(job)] != run) return false;
  s.safe_steps[U(job)] = s.steps_done[U(job)];
  state.saved_at[U(job)] = s.now;
  ++state.saves;
  state.due[U(job)] = s.now + state.interval_s[U(job)];
  sim.timers_.Push({state.due[U(job)], TimerKind::kSave, job, run});
  return false;
}

std::string CheckpointViolation(const InvariantInput& in) {
  const SimState& s = in.state;
  for (std::size_t job = 0; job < s.safe_steps.size(); ++job) {
    if (s.safe_steps[job] > s.AttainedSteps(static_cast<int>(job)))
      return Join("job ", job, " has ", s.safe_steps[job], " steps safe of ",
                  s.AttainedSteps(static_cast<int>(job)));
    if (s.lost_steps[job] < 0.0 || (s.lost_steps[job] > 0.0 && s.interruptions[job] == 0))
      return Join("job ", job, " lost ", s.lost_steps[job], " steps in ", s.interruptions[job],
                  " interruptions");
  }
  return "";
}

}  // namespace berth
