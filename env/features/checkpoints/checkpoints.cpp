#include "env/features/checkpoints/checkpoints.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/features/table.hpp"
#include "env/sim/action_kind.hpp"
#include "env/sim/core.hpp"

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
    if (mtbf_h > 0.0 || scenario.features.Interrupt()) return;
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

std::unique_ptr<FeatureState> CheckpointSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<CheckpointState>(*this, scenario.data());
}

CheckpointState::CheckpointState(const CheckpointSettings& settings, const ScenarioData& data)
    : settings_(&settings) {
  for (int job = 0; job < data.jobs.size(); ++job) {
    const double gb = StatedOr(data.traits.checkpoint_gb, data.jobs.job_type[U(job)], settings.gb);
    save_s.push_back(gb / settings.write_gb_s);
    restore_s.push_back(gb / settings.read_gb_s);
  }
  saved_at.assign(save_s.size(), kNever);
  run_.assign(save_s.size(), 0);
  interval_s.assign(save_s.size(), 0.0);
  due_.assign(save_s.size(), kNever);
  busy_until_.assign(save_s.size(), 0.0);
}

double CheckpointState::Transfer(const SimCore& core, double seconds) {
  if (!settings_->shared) return seconds;
  storage_free_at = std::max(storage_free_at, core.now()) + seconds;
  return storage_free_at - core.now();
}

void CheckpointState::StartCost(SimCore& core, int job, int /*type*/, RunStart& start) {
  const SimState& s = core.state();
  if (start.resizes) {
    start.saving = due_[U(job)] <= s.now;
    return;
  }
  double seconds = settings_->cold_start_s, transfer = 0.0;
  if (s.steps_done[U(job)] > s.safe_steps[U(job)]) {  // by the stop before this start
    transfer += save_s[U(job)];
    saved_at[U(job)] = s.now;
  }
  if (s.steps_done[U(job)] > 0.0) transfer += restore_s[U(job)];
  if (transfer > 0.0) seconds += Transfer(core, transfer);
  start.overhead_s = seconds;
}

double CheckpointState::Interval(const SimCore& core, int job) const {
  if (settings_->interval == "none") return kNever;
  const bool young = settings_->interval == "young";
  if (!young && settings_->interval != "optimal") return ParseNumber(settings_->interval, "interval");
  double rate = 0.0;
  if (settings_->mtbf_h > 0.0) {
    rate = core.state().Width(job) / (3600.0 * settings_->mtbf_h);
  } else {
    for (const FeatureState& feature : core.state().features.Of(Hook::kFailuresPerSecond))
      rate += feature.FailuresPerSecond(core.state(), job);
  }
  if (rate <= 0.0) return kNever;
  const double interval =
      young ? YoungInterval(save_s[U(job)], 1.0 / rate) : DalyInterval(save_s[U(job)], 1.0 / rate);
  return std::max(interval, kShortestInterval);
}

void CheckpointState::OnStart(SimCore& core, int job, const RunStart& start) {
  const std::uint32_t run = ++run_[U(job)];
  const double interval = interval_s[U(job)] = Interval(core, job);
  const double progressed_from = std::exchange(busy_until_[U(job)], core.state().progress_from[U(job)]);
  if (interval == kNever) {  // what was ordered and broken off is no longer under way
    due_[U(job)] = kNever;
    return;
  }
  // One that a resize breaks off begins anew. What an earlier start still owed is no progress towards it.
  const double from = std::max(core.now(), progressed_from);
  const double left = start.resizes ? std::clamp(due_[U(job)] - from, 0.0, interval) : interval;
  due_[U(job)] = core.state().progress_from[U(job)] + left;
  core.SetTimer({due_[U(job)], kSave, job, run});
}

bool CheckpointState::OnTimer(SimCore& core, const Timer& timer) {
  const int job = timer.index;
  if (core.state().phase[U(job)] != JobPhase::kRunning || run_[U(job)] != timer.version) return false;
  if (timer.kind == kSaved) {
    EndSave(core, job, timer.version);
  } else if (timer.time == due_[U(job)]) {  // else an order came before it
    BeginSave(core, job, timer.version);
  }
  return false;
}

bool CheckpointState::Allows(const SimCore& core, const Control& control) const {
  const int job = control.index;
  return control.kind == kSaveControl && control.value == 1.0 && job >= 0 &&
         job < core.scenario().num_jobs() && core.state().phase[U(job)] == JobPhase::kRunning &&
         !core.Named(job) && MaySave(job, core.now());
}

bool CheckpointState::CarryOut(SimCore& core, const Control& control) {
  if (control.kind != kSaveControl) return false;
  due_[U(control.index)] = core.now();
  BeginSave(core, control.index, run_[U(control.index)]);
  return true;
}

void CheckpointState::BeginSave(SimCore& core, int job, std::uint32_t run) {
  SimState& s = core.state();
  s.steps_done[U(job)] = s.AttainedSteps(job);
  const double done = s.now + Transfer(core, save_s[U(job)]);
  s.progress_from[U(job)] = busy_until_[U(job)] = std::max(s.progress_from[U(job)], done);
  core.SetRate(job, s.rate[U(job)]);  // ends later: its completion is queued anew
  core.SetTimer({done, kSaved, job, run});
}

void CheckpointState::EndSave(SimCore& core, int job, std::uint32_t run) {
  SimState& s = core.state();
  core.Save(job);
  saved_at[U(job)] = s.now;
  ++saves;
  due_[U(job)] = s.now + interval_s[U(job)];
  if (due_[U(job)] == kNever) return;
  core.SetTimer({due_[U(job)], kSave, job, run});
}

FeatureModule CheckpointsFeature() {
  static constexpr TimerKind kTimers[] = {kSave, kSaved};
  static constexpr BlockInfo (*kBlocks[])() = {CheckpointsBlock};
  static constexpr ActionInfo (*kActions[])() = {CheckpointAction};
  FeatureModule module = ModuleOf<CheckpointSettings>();
  module.timers = kTimers;
  module.actions = kActions;
  module.blocks = kBlocks;
  return module;
}

}  // namespace berth
