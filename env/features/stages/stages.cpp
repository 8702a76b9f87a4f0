#include "env/features/stages/stages.hpp"

#include <array>
#include <utility>

#include "env/base/index.hpp"
#include "env/features/stages/dependencies.hpp"
#include "env/features/stages/stage_times.hpp"
#include "env/features/table.hpp"
#include "env/sim/action_kind.hpp"
#include "env/sim/core.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth {
std::span<const Field<StageSettings>> StageSettings::Fields() {
  using S = StageSettings;
  static const std::array kFields = {
      Field<S>{"cpu_core_s", &S::cpu_core_s,
               "core-seconds of preprocessing a step, of each job type or of all", 0.0, 1e4},
      Field<S>{"gpu_prep_s", &S::gpu_prep_s, "seconds that all of it takes on the job's gang of GPUs instead",
               0.0, 1e4},
      Field<S>{"transfer_s", &S::transfer_s, "seconds of transfers a step", 0.0, 1e4},
      Field<S>{"cores_per_gpu", &S::cores_per_gpu,
               "CPU cores that come with each GPU held, of a part of one their part", 1e-3},
      Field<S>{"overlap", &S::overlap, "stages overlap: the longest paces a step; false = their sum"},
      Field<S>{"offload", &S::offload, "part of the preprocessing done on the GPU; -1 = the best part", -1.0,
               1.0},
      Field<S>{"after", &S::after, "who waits for whom: child>parent:child>parent, job ids"},
      Field<S>{"depends", &S::depends,
               "share of the jobs that wait for one of the ten before them by arrival, drawn", 0.0, 1.0},
      Field<S>{"chain", &S::chain, "every so many jobs by arrival form a chain, each after the one before", 0,
               1e9},
  };
  return kFields;
}

std::unique_ptr<FeatureState> StageSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<StageState>(*this, scenario);
}

StageState::StageState(const StageSettings& settings, const Scenario& scenario)
    : children(U(scenario.num_jobs())),
      parents(Parents(settings, scenario.data())),
      offload(U(scenario.num_jobs()), settings.offload),
      settings_(&settings),
      doomed_(U(scenario.num_jobs()), 0) {
  for (std::size_t job = 0; job < parents.size(); ++job) {
    open_parents.push_back(static_cast<int>(parents[job].size()));
    for (int parent : parents[job]) children[U(parent)].push_back(static_cast<int>(job));
  }
}

bool StageState::Allows(const SimCore& core, const Control& control) const {
  if (control.kind != kOffloadControl || control.index < 0 || control.index >= core.scenario().num_jobs())
    return false;
  const JobPhase phase = core.state().phase[U(control.index)];
  return (phase == JobPhase::kWaiting || phase == JobPhase::kRunning) &&
         (control.value == -1.0 || (control.value >= 0.0 && control.value <= 1.0));
}

bool StageState::CarryOut(SimCore& core, const Control& control) {
  if (control.kind != kOffloadControl) return false;
  if (std::exchange(offload[U(control.index)], control.value) == control.value) return true;
  // Who is about to move has left its devices and is rated when it has new ones.
  const std::span<const int> devices = core.state().Devices(control.index);
  if (!devices.empty()) core.RerateOn(devices.front());
  return true;
}

bool StageState::Blocks(SimCore& core, int job, double time) {
  if (doomed_[U(job)] != 0) {
    core.TurnAway(job, time);
    return true;
  }
  if (open_parents[U(job)] == 0) return false;
  core.Block(job);
  return true;
}

void StageState::OnLeave(SimCore& core, int job, double time) {
  const bool done = core.state().phase[U(job)] == JobPhase::kDone;
  for (int child : children[U(job)]) {
    const bool was_blocked = core.state().blocked[U(child)] != 0;
    if (done) {
      if (--open_parents[U(child)] > 0 || !was_blocked) continue;
    } else {
      if (doomed_[U(child)] != 0) continue;
      doomed_[U(child)] = 1;
      if (!was_blocked) continue;  // it is to come
    }
    core.Unblock(child, time);
    done ? core.Ready(child, time) : core.TurnAway(child, time);
  }
}

namespace {

struct Step {
  StageTimes times;
  double offload = 0.0, seconds = 0.0;
};

Step StepOf(const StageSettings& settings, const Scenario& scenario, const SimState& s, int job,
            double offload, double rate, double pace) {
  const ScenarioData& data = scenario.data();
  const int job_type = data.jobs.job_type[U(job)];
  Step step;
  StageTimes& times = step.times;
  times.gpu = 1.0 / rate;
  const double gpus = s.Width(job) * PartOf(data, s.on_type[U(job)]).fraction();
  double with_cores = s.partner[U(job)] < 0 ? gpus : 0.5 * gpus;
  with_cores *= scenario.GpuMilli(job) / 1000.0;
  times.cpu = EntryFor(settings.cpu_core_s, job_type) / (settings.cores_per_gpu * with_cores);
  times.gpu_prep = EntryFor(settings.gpu_prep_s, job_type) * (data.jobs.gang[U(job)] / gpus) / pace;
  times.transfer = EntryFor(settings.transfer_s, job_type);
  step.offload = offload < 0.0 ? BestOffload(times, settings.overlap) : offload;
  step.seconds = StepSeconds(times, settings.overlap, step.offload);
  return step;
}

}  // namespace

double StageState::StepFactor(const Scenario& scenario, const SimState& s, int job, double rate,
                              double pace) const {
  if (rate <= 0.0) return 1.0;
  const Step step = StepOf(*settings_, scenario, s, job, offload[U(job)], rate, pace);
  return step.times.gpu / step.seconds;
}

double StageState::BusyShare(const Scenario& scenario, const SimState& s, int job, double rate,
                             double pace) const {
  if (rate <= 0.0) return 1.0;
  const Step step = StepOf(*settings_, scenario, s, job, offload[U(job)], rate, pace);
  return (step.times.gpu + step.offload * step.times.gpu_prep) / step.seconds;
}

FeatureModule StagesFeature() {
  static constexpr BlockInfo (*kBlocks[])() = {StagesBlock, DescendantsBlock, HeldBackBlock};
  static constexpr ActionInfo (*kActions[])() = {OffloadAction};
  FeatureModule module = ModuleOf<StageSettings>();
  module.blocks = kBlocks;
  module.actions = kActions;
  return module;
}

}  // namespace berth
