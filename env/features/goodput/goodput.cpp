#include "env/features/goodput/goodput.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/features/table.hpp"
#include "env/sim/core.hpp"
#include "env/sim/invariants.hpp"

namespace berth {
namespace {

constexpr MetricInfo kMetrics[] = {
    {"restarts_per_job", "starts of a completed job after its first", MetricInfo::Place::kJobs,
     /*maximum=*/false, /*most=*/0.0, /*of_jobs=*/true},
};

// GPUs that the job has on each of its nodes, in the order of its devices.
std::vector<int> NodesUnder(const SimCore& core, int job) {
  std::vector<int> nodes;
  int last = -1;
  for (int device : core.state().Devices(job)) {
    const int node = core.scenario().NodeOf(device);
    if (node == last) {
      ++nodes.back();
    } else {
      nodes.push_back(1);
    }
    last = node;
  }
  return nodes;
}

}  // namespace

GoodputState::GoodputState(const GoodputSettings& settings, const Scenario& scenario)
    : jobs(U(scenario.num_jobs())),
      settings_(&settings),
      spanning_(U(scenario.num_nodes()), 0),
      bars_(scenario.num_jobs()) {
  const ScenarioData& data = scenario.data();
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    jobs[U(job)].application =
        &settings.ApplicationNamed(data.throughputs.job_types[U(data.jobs.job_type[U(job)])]);
    if (settings.batch == "submitted" && !data.jobs.batch_size.empty())
      jobs[U(job)].target = data.jobs.batch_size[U(job)];
  }
}

const SpeedOnType& GoodputState::SpeedOf(const SimCore& core, int job) const {
  const int type = core.state().on_type[U(job)];
  return *jobs[U(job)].application->On(core.scenario().data().cluster.types[U(type)].name);
}

const goodput::SpeedModel& GoodputState::Learned::Model(const std::string& rules) const {
  if (fitted_ != seen.size()) model_ = FitByRules(rules, seen), fitted_ = seen.size();
  return model_;
}

// In the Pollux artifact the placement sets no limit, in Sia's it alone does.
goodput::BatchLimits GoodputState::LimitsOf(const SimCore& core, int job) const {
  const SpeedOnType& speed = SpeedOf(core, job);
  goodput::BatchLimits limits = jobs[U(job)].application->Limits(speed);
  const int most = speed.MaxAtomic(jobs[U(job)].nodes);
  if (settings_->rules == "pollux" || most == 0) return limits;
  limits.max_atomic = settings_->rules == "sia" ? most : std::min(limits.max_atomic, most);
  return limits;
}

const std::vector<goodput::BatchSplit>& GoodputState::Candidates(const goodput::BatchLimits& limits,
                                                                 int gpus) const {
  const std::array<int, 5> of{limits.initial, limits.max_total, limits.min_atomic, limits.max_atomic, gpus};
  const auto [entry, fresh] = candidates_.try_emplace(of);
  if (fresh) entry->second = goodput::BatchCandidates(limits, gpus);
  return entry->second;
}

// By the model of its speed that it has, with the gradients as it last measured them (Pollux, eq. 13); before
// it has any the least batch that is allowed.
goodput::BatchSplit GoodputState::BestSplit(const SimCore& core, int job) const {
  const Job& its = jobs[U(job)];
  const SpeedOnType& speed = SpeedOf(core, job);
  const Learned& learned = its.learned[U(core.state().on_type[U(job)])];
  const goodput::BatchLimits limits = LimitsOf(core, job);
  const goodput::Shape shape{static_cast<int>(its.nodes.size()), its.gpus};
  goodput::BatchChoice best;
  if (settings_->model == "known") {
    for (const goodput::BatchSplit& split : Candidates(limits, its.gpus)) {
      const goodput::StepTime time = speed.At(its.nodes, split.atomic);
      if (!(time.step > 0.0)) continue;
      const double worth = GoodputOf(*its.application, time, split, its.gpus, its.epoch);
      if (worth > best.goodput) best = {worth, split};
    }
  } else if (learned.known()) {
    best = goodput::BestBatch(limits, Candidates(limits, its.gpus), its.gpus, its.gradients,
                              learned.Model(settings_->rules).At(shape));
  }
  return best.goodput > 0.0 ? best.split : goodput::SplitLeast(limits, its.gpus);
}

void GoodputState::ChooseBatch(const SimCore& core, int job) {
  Job& its = jobs[U(job)];
  const SpeedOnType& speed = SpeedOf(core, job);
  const int target = its.application->fixed_batch > 0 ? its.application->fixed_batch : its.target;
  const goodput::BatchLimits limits = LimitsOf(core, job);
  // By the artifacts' rules a job looks at its batch again after a round or an epoch; else a few steps tell
  // it enough to choose once more.
  constexpr int kLooks = 3;
  for (int look = 0; look < kLooks; ++look) {
    goodput::BatchSplit split =
        target > 0 ? goodput::SplitFixed(limits, its.gpus, target) : BestSplit(core, job);
    // GPUs that a small batch does not feed get the least that was measured.
    if (!settings_->whole_seconds()) split.atomic = std::max(split.atomic, limits.min_atomic);
    if (const int most = speed.MaxAtomicOf(its.gpus); settings_->rules == "sia" && most > 0)
      split.atomic = std::min(split.atomic, most);
    split = goodput::WithinMaxTotal(limits, its.gpus, split);
    if (look > 0 && split == its.split) break;
    its.split = split;
    its.time = speed.At(its.nodes, split.atomic);
    if (!(its.time.step > 0.0)) {
      throw Error(Join("feature 'goodput': ", its.application->name, " on GPUs per node ",
                       PlacementName(its.nodes), ": expected step times measured for a batch of ",
                       split.atomic, " on each GPU, found ", speed.min_local, " to ", speed.max_local));
    }
    if (settings_->whole_seconds() || settings_->model == "known" || target > 0) break;
    Observe(core, job);
  }
}

void GoodputState::Observe(const SimCore& core, int job) {
  Job& its = jobs[U(job)];
  its.gradients = its.application->curve.Gradients(its.split.Total(its.gpus), its.epoch);
  Learned& learned = its.learned[U(core.state().on_type[U(job)])];
  learned.most_gpus = std::max(learned.most_gpus, its.gpus);
  const goodput::Shape shape{static_cast<int>(its.nodes.size()), its.gpus};
  for (const goodput::Observation& seen : learned.seen) {
    if (seen.shape == shape && seen.atomic == its.split.atomic) return;
  }
  learned.seen.push_back({shape, its.split.atomic, its.time});
}

double GoodputState::Expected(const ClusterSpec& cluster, int job, int type, goodput::Shape shape,
                              int most) const {
  const Job& its = jobs[U(job)];
  if (its.learned.empty() || !its.learned[U(type)].known()) return 0.0;
  const SpeedOnType& speed = *its.application->On(cluster.types[U(type)].name);
  goodput::BatchLimits limits = its.application->Limits(speed);
  if (most > 0) limits.max_total = std::clamp(most, limits.initial, limits.max_total);
  if (shape.replicas > goodput::MostReplicas(limits)) return 0.0;
  return goodput::BestBatch(limits, Candidates(limits, shape.replicas), shape.replicas, its.gradients,
                            its.learned[U(type)].Model(settings_->rules).At(shape))
             .goodput /
         limits.initial;
}

void GoodputState::Reckon(const SimCore& core, int job) {
  Job& its = jobs[U(job)];
  bars_.Show(core.now(), job, Batch(job));
  its.goodput = GoodputOf(*its.application, its.time, its.split, its.gpus, its.epoch);
  if (its.congested) its.goodput *= 1.0 - settings_->interference;
}

double GoodputState::OwnFactor(const Scenario& scenario, const SimState& s, int job) const {
  const double listed = scenario.RateAt(job, s.on_type[U(job)], s.Width(job));
  return listed > 0.0 ? jobs[U(job)].goodput * jobs[U(job)].pace / listed : 0.0;
}

bool GoodputState::RunsOn(const SimCore& core, int job, int type) const {
  const SimState& s = core.state();
  return settings_->free_moves() && s.phase[U(job)] == JobPhase::kRunning && s.last_type[U(job)] == type &&
         NodesUnder(core, job) == jobs[U(job)].nodes;
}

void GoodputState::StartCost(SimCore& core, int job, int type, RunStart& start) {
  const bool free = RunsOn(core, job, type);  // a resize of another feature is none
  Job& its = jobs[U(job)];
  const SimState& s = core.state();
  its.nodes = NodesUnder(core, job);
  its.gpus = s.Width(job);
  Span(core, job, 1);
  its.congested = Congested(core, job);  // whoever else is from now on, Settle finds
  its.learned.resize(core.scenario().data().cluster.types.size());
  its.epoch = std::min(its.application->curve.EpochAt(s.steps_done[U(job)]), its.application->epochs() - 1);
  its.pace = 1.0;
  settling_ = job;
  ChooseBatch(core, job);
  Reckon(core, job);
  if (free) {  // what a start still owed, it owes
    start.overhead_s = 0.0;
    return;
  }
  ++its.starts;
  start.overhead_s += settings_->restart_s < 0.0 ? its.application->restart_s : settings_->restart_s;
}

void GoodputState::OnStart(SimCore& core, int job, const RunStart&) {
  settling_ = -1;
  jobs[U(job)].trains_from = core.state().progress_from[U(job)];
  if (!settings_->whole_seconds()) Schedule(core, job);  // else once the decision is complete
}

void GoodputState::OnRate(SimCore& core, int job) {
  if (settling_ != job) Schedule(core, job);
}

void GoodputState::BeforeAdvance(SimCore& core) {
  if (!settings_->whole_seconds()) return;
  const SimState& s = core.state();
  const std::vector<int> running(s.running.begin(), s.running.end());
  for (int job : running) {
    if (s.phase[U(job)] != JobPhase::kRunning) continue;
    if (s.now > s.progress_from[U(job)]) {  // it has trained for a while
      ChooseBatch(core, job);
      Reckon(core, job);
      SetPace(core, job, 1.0);
    }
    Schedule(core, job);
  }
}

// The epoch ends after what is left of it at the present rate. By the rules of the artifacts that is looked
// at once a round, and in whole seconds.
void GoodputState::Schedule(SimCore& core, int job) {
  const SimState& s = core.state();
  Job& its = jobs[U(job)];
  const TrainingCurve& curve = its.application->curve;
  ++its.version;
  if (!settings_->whole_seconds()) {
    if (its.epoch + 1 >= curve.epochs() || s.rate[U(job)] <= 0.0) return;  // the last one ends with the job
    const double left = curve.Target(its.epoch + 1) - s.steps_done[U(job)];
    core.SetTimer(
        {s.progress_from[U(job)] + std::max(left, 0.0) / s.rate[U(job)], kEpochEnds, job, its.version});
    return;
  }
  const double round = core.scenario().data().clock.round_s;
  const double boundary = (std::floor(s.now / round) + 1.0) * round;
  for (;;) {
    const double from = std::max(s.now, s.progress_from[U(job)]), rate = s.rate[U(job)] / its.pace;
    if (from >= boundary || rate <= 0.0) return;
    Observe(core, job);
    const double done = s.AttainedSteps(job), target = curve.Target(its.epoch + 1);
    const bool last = its.epoch + 1 == curve.epochs();
    if (done + rate * (boundary - from) < target) return;
    const double seconds = std::nearbyint((target - done) / rate);  // half to even, as Python's round
    if (seconds > 0.0) {
      // The core must not find the job complete before its second is.
      constexpr double kShort = 1e-9;
      if (last && rate * seconds >= (target - done) * (1.0 - kShort))
        SetPace(core, job, (target - done) / seconds * (1.0 - kShort) / rate);
      core.SetTimer({from + seconds, kEpochEnds, job, its.version});
      return;
    }
    if (!EndEpoch(core, job)) return;
  }
}

void GoodputState::SetPace(SimCore& core, int job, double pace) {
  jobs[U(job)].pace = pace;
  settling_ = job;
  Rerate(core, job);
  settling_ = -1;
}

// The rate may stay the same, where another stage holds the step up, and what the job uses of its GPUs not.
void GoodputState::Rerate(SimCore& core, int job) {
  const double before = core.state().rate[U(job)];
  core.Rerate(job);
  if (core.state().rate[U(job)] != before) return;
  const int settling = std::exchange(settling_, job);  // its epoch ends when it did
  for (FeatureState& feature : core.state().features.Of(Hook::kOnRate)) feature.OnRate(core, job);
  settling_ = settling;
}

bool GoodputState::OnTimer(SimCore& core, const Timer& timer) {
  const int job = timer.index;
  if (timer.version != jobs[U(job)].version || core.state().phase[U(job)] != JobPhase::kRunning) return false;
  if (!EndEpoch(core, job)) return false;
  const double round = core.scenario().data().clock.round_s;
  const bool boundary = settings_->whole_seconds() && std::fmod(core.now(), round) == 0.0;
  if (!boundary) Schedule(core, job);  // there the next round looks at it
  return false;
}

// False where it was the last: the job is complete now.
bool GoodputState::EndEpoch(SimCore& core, int job) {
  Job& its = jobs[U(job)];
  ++its.epoch;
  core.SetProgress(job, its.application->curve.Target(its.epoch));
  if (its.epoch == its.application->epochs()) {
    --its.epoch;
    return false;
  }
  ChooseBatch(core, job);
  Reckon(core, job);
  SetPace(core, job, 1.0);
  return true;
}

// Interference (Pollux, sec. 5.3.2): a node is congested where several jobs are that span nodes; such jobs
// slow down on it.
void GoodputState::Span(const SimCore& core, int job, int by) {
  if (settings_->interference == 0.0 || jobs[U(job)].nodes.size() < 2) return;
  int last = -1;
  for (int device : core.state().Devices(job)) {
    const int node = core.scenario().NodeOf(device);
    if (node != last) spanning_[U(node)] += by;
    last = node;
  }
  moved_ = true;
}

bool GoodputState::Congested(const SimCore& core, int job) const {
  const std::span<const int> devices = core.state().Devices(job);
  return jobs[U(job)].nodes.size() > 1 && std::any_of(devices.begin(), devices.end(), [&](int device) {
           return spanning_[U(core.scenario().NodeOf(device))] > 1;
         });
}

void GoodputState::BeforeRelease(SimCore& core, int job) {
  ++jobs[U(job)].version;
  bars_.Show(core.now(), job, 0);
  Span(core, job, -1);
}

void GoodputState::Settle(SimCore& core) {
  if (!moved_) return;
  moved_ = false;
  const SimState& s = core.state();
  for (int job : s.running) {
    Job& its = jobs[U(job)];
    if (s.phase[U(job)] != JobPhase::kRunning) continue;
    const bool congested = Congested(core, job);
    if (congested == its.congested) continue;
    its.congested = congested;
    Reckon(core, job);
    Rerate(core, job);
  }
}

bool GoodputState::Allows(const SimCore& core, const Control& control) const {
  if (control.kind != kBatchControl || control.index < 0 || control.index >= core.scenario().num_jobs())
    return false;
  const JobPhase phase = core.state().phase[U(control.index)];
  return control.value >= 0.0 && control.value <= jobs[U(control.index)].application->max_batch() &&
         control.value == std::floor(control.value) &&
         (phase == JobPhase::kWaiting || phase == JobPhase::kRunning);
}

bool GoodputState::CarryOut(SimCore& core, const Control& control) {
  if (control.kind != kBatchControl) return false;
  const int job = control.index;
  Job& its = jobs[U(job)];
  its.target = static_cast<int>(control.value);
  if (core.state().phase[U(job)] != JobPhase::kRunning || core.state().Width(job) == 0) return true;
  ChooseBatch(core, job);
  Reckon(core, job);
  Rerate(core, job);
  return true;
}

std::string GoodputState::Violation(const InvariantInput& in) const {
  for (int job : in.state.running) {
    if (in.state.phase[U(job)] != JobPhase::kRunning) continue;
    const Job& its = jobs[U(job)];
    int held = 0;
    for (int gpus : its.nodes) held += gpus;
    if (held != in.state.Width(job) || held != its.gpus)
      return Join("job ", job, " holds ", in.state.Width(job), " GPUs, its batch is divided over ", its.gpus);
    if (its.split.atomic < 1 || !(its.goodput > 0.0)) return Join("job ", job, " runs without a batch");
  }
  return "";
}

void GoodputState::AddLanes(double now, std::vector<FeatureLane>& lanes) const {
  bars_.AddLanes(now, lanes);
}

void GoodputState::Measure(const SimCore& core, std::span<double> figures) const {
  int done = 0, starts = 0;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    if (core.state().phase[job] != JobPhase::kDone) continue;
    ++done, starts += jobs[job].starts - 1;
  }
  if (done > 0) figures[0] = static_cast<double>(starts) / done;
}

FeatureModule GoodputFeature() {
  static constexpr TimerKind kTimers[] = {kEpochEnds};
  static constexpr BlockInfo (*kBlocks[])() = {GoodputBlock};
  static constexpr ActionInfo (*kActions[])() = {ScaleAction, BatchAction};
  FeatureModule module = ModuleOf<GoodputSettings>();
  module.blocks = kBlocks;
  module.actions = kActions;
  module.metrics = kMetrics;
  module.timers = kTimers;
  return module;
}

}  // namespace berth
