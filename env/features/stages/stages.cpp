#include "env/features/stages/stages.hpp"

#include <array>
#include <utility>

#include "env/base/index.hpp"
#include "env/features/partitions/physical_gpus.hpp"
#include "env/features/stages/dependencies.hpp"
#include "env/features/stages/stage_times.hpp"
#include "env/sim/simulator.hpp"

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
      Field<S>{"chain", &S::chain, "every so many jobs by arrival form a chain, each after the one before", 0,
               1e9},
  };
  return kFields;
}

void StageEngine::Start(Simulator& sim) {
  StageState state;
  state.parents = Parents(sim.scenario().data());
  state.children.resize(state.parents.size());
  for (std::size_t job = 0; job < state.parents.size(); ++job) {
    state.open_parents.push_back(static_cast<int>(state.parents[job].size()));
    for (int parent : state.parents[job]) state.children[U(parent)].push_back(static_cast<int>(job));
  }
  state.blocked.assign(state.parents.size(), 0);
  state.doomed.assign(state.parents.size(), 0);
  sim.state_.stages = Owned<StageState>::Make(std::move(state));
}

bool StageEngine::Blocks(Simulator& sim, int job, double time) {
  StageState& state = *sim.state_.stages;
  if (state.doomed[U(job)] != 0) {
    sim.Leave(job, time, JobPhase::kRejected);
    sim.Log(time, EventKind::kReject, -1, job, -1);
    return true;
  }
  if (state.open_parents[U(job)] == 0) return false;
  state.blocked[U(job)] = 1;
  ++state.num_blocked;
  return true;
}

void StageEngine::OnLeave(Simulator& sim, int job, double time) {
  StageState& state = *sim.state_.stages;
  const bool done = sim.state_.phase[U(job)] == JobPhase::kDone;
  for (int child : state.children[U(job)]) {
    const bool was_blocked = state.blocked[U(child)] != 0;
    if (done) {
      if (--state.open_parents[U(child)] > 0 || !was_blocked) continue;
    } else {
      if (state.doomed[U(child)] != 0) continue;
      state.doomed[U(child)] = 1;
      if (!was_blocked) continue;  // it is to come
    }
    state.blocked[U(child)] = 0;
    sim.AdvanceJobSeconds(time);
    --state.num_blocked;
    if (done) {
      sim.Ready(child, time);
    } else {
      sim.Leave(child, time, JobPhase::kRejected);
      sim.Log(time, EventKind::kReject, -1, child, -1);
    }
  }
}

namespace {

struct Step {
  StageTimes times;
  double offload = 0.0, seconds = 0.0;
};

Step StepOf(const Scenario& scenario, const SimState& s, int job, double rate, double pace) {
  const ScenarioData& data = scenario.data();
  const StageSettings& settings = *data.features.stages;
  const int job_type = data.jobs.job_type[U(job)];
  Step step;
  StageTimes& times = step.times;
  times.gpu = 1.0 / rate;
  const std::vector<int>& milli = data.jobs.gpu_milli;
  const double gpus = s.Width(job) * PartOf(data, s.on_type[U(job)]).fraction();
  double with_cores = s.partner[U(job)] < 0 ? gpus : 0.5 * gpus;
  if (s.sharing && !milli.empty()) with_cores *= milli[U(job)] / 1000.0;
  times.cpu = EntryFor(settings.cpu_core_s, job_type) / (settings.cores_per_gpu * with_cores);
  times.gpu_prep = EntryFor(settings.gpu_prep_s, job_type) * (data.jobs.gang[U(job)] / gpus) / pace;
  times.transfer = EntryFor(settings.transfer_s, job_type);
  step.offload = settings.offload < 0.0 ? BestOffload(times, settings.overlap) : settings.offload;
  step.seconds = StepSeconds(times, settings.overlap, step.offload);
  return step;
}

}  // namespace

double StageEngine::RateFactor(const Scenario& scenario, const SimState& s, int job, double rate,
                               double pace) {
  if (rate <= 0.0) return 1.0;
  const Step step = StepOf(scenario, s, job, rate, pace);
  return step.times.gpu / step.seconds;
}

double StageEngine::BusyShare(const Scenario& scenario, const SimState& s, int job, double rate,
                              double pace) {
  if (rate <= 0.0) return 1.0;
  const Step step = StepOf(scenario, s, job, rate, pace);
  return (step.times.gpu + step.offload * step.times.gpu_prep) / step.seconds;
}

}  // namespace berth
