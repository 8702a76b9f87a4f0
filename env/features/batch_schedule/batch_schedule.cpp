#include "env/features/batch_schedule/batch_schedule.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/core.hpp"
#include "env/sim/invariants.hpp"

namespace berth {
namespace {

// Steps are sums of rates times seconds: as near to a change as that, it is there.
constexpr double kThere = 1e-9;

int PhaseAt(const std::vector<BatchPhase>& phases, double steps) {
  const auto next = std::upper_bound(phases.begin(), phases.end(), steps * (1.0 + kThere),
                                     [](double done, const BatchPhase& phase) { return done < phase.from; });
  return static_cast<int>(next - phases.begin()) - 1;
}

}  // namespace

BatchScheduleState::BatchScheduleState(const BatchScheduleSettings& settings, const Scenario& scenario)
    : phases(BatchPhases(settings, scenario.data())),
      at(phases.size(), 0),
      version_(phases.size(), 0),
      bars_(scenario.num_jobs()) {}

double BatchScheduleState::Seconds(int job, int type, double rate, double from, double to, int batch) const {
  const std::vector<BatchPhase>& its = phases[U(job)];
  const double first = rate / its[U(at[U(job)])].factor[U(type)];  // with the first batch
  const auto with =
      std::find_if(its.begin(), its.end(), [batch](const BatchPhase& phase) { return phase.batch == batch; });
  if (batch > 0 && with != its.end()) return std::max(0.0, to - from) / (first * with->factor[U(type)]);
  double seconds = 0.0;
  for (std::size_t k = 0; k < its.size(); ++k) {
    const double begin = std::max(from, its[k].from);
    const double end = k + 1 < its.size() ? std::min(to, its[k + 1].from) : to;
    if (end > begin) seconds += (end - begin) / (first * its[k].factor[U(type)]);
  }
  return seconds;
}

void BatchScheduleState::Start(SimCore& core) {
  const Scenario& scenario = core.scenario();
  ToldRates& told = core.state().told;
  const std::size_t jobs = U(scenario.num_jobs());
  told.rate.assign(scenario.told_rates(), scenario.told_rates() + jobs * U(scenario.num_types()));
  told.best_rate.assign(scenario.told_best_rates(), scenario.told_best_rates() + jobs);
  told.pairs = scenario.believed().pairs;
}

void BatchScheduleState::Enter(SimCore& core, int job, int phase) {
  if (phase == at[U(job)]) return;
  at[U(job)] = phase;
  ToldRates& told = core.state().told;
  const std::size_t types = U(core.scenario().num_types());
  const double* first = core.scenario().told_rates() + U(job) * types;
  double* rates = told.rate.data() + U(job) * types;
  for (std::size_t g = 0; g < types; ++g) rates[g] = first[g] * phases[U(job)][U(phase)].factor[g];
  told.best_rate[U(job)] = *std::max_element(rates, rates + types);
  ++told.version;
  core.state().changed_since = 0;  // nobody follows: whoever remembers rates looks at everything again
}

void BatchScheduleState::StartCost(SimCore& core, int job, int, RunStart&) {
  if (Changes(job)) Enter(core, job, PhaseAt(phases[U(job)], core.state().steps_done[U(job)]));
}

void BatchScheduleState::OnStart(SimCore& core, int job, const RunStart&) {
  Note(core.now(), job, /*trains=*/true);
  Await(core, job);
}

void BatchScheduleState::OnRate(SimCore& core, int job) {
  Await(core, job);
}

void BatchScheduleState::Await(SimCore& core, int job) {
  const SimState& s = core.state();
  ++version_[U(job)];
  if (!Changes(job) || U(at[U(job)]) + 1 == phases[U(job)].size() || s.rate[U(job)] <= 0.0) return;
  const double left = phases[U(job)][U(at[U(job)]) + 1].from - s.steps_done[U(job)];
  core.SetTimer(
      {s.progress_from[U(job)] + std::max(left, 0.0) / s.rate[U(job)], kBatchChanges, job, version_[U(job)]});
}

bool BatchScheduleState::OnTimer(SimCore& core, const Timer& timer) {
  const int job = timer.index;
  if (timer.version != version_[U(job)] || core.state().phase[U(job)] != JobPhase::kRunning) return false;
  const int next = at[U(job)] + 1;
  core.SetProgress(job, phases[U(job)][U(next)].from);
  Enter(core, job, next);
  Note(core.now(), job, /*trains=*/true);
  const double before = core.state().rate[U(job)];
  core.Rerate(job);
  if (core.state().rate[U(job)] == before) {  // another stage holds it up; what it uses of its GPUs changes
    for (FeatureState& feature : core.state().features.Of(Hook::kOnRate)) feature.OnRate(core, job);
  }
  Await(core, job);
  return false;
}

void BatchScheduleState::BeforeRelease(SimCore& core, int job) {
  ++version_[U(job)];
  Note(core.now(), job, /*trains=*/false);
  if (Changes(job)) Enter(core, job, PhaseAt(phases[U(job)], core.state().steps_done[U(job)]));
}

double BatchScheduleState::OwnFactor(const Scenario&, const SimState& s, int job) const {
  if (!Changes(job)) return 1.0;
  return phases[U(job)][U(at[U(job)])].factor[U(s.on_type[U(job)])];
}

std::optional<OtherSteps> BatchScheduleState::StepsOf(int job, int type) const {
  if (!Changes(job)) return std::nullopt;
  return phases[U(job)][U(at[U(job)])].steps[U(type)];
}

std::string BatchScheduleState::Violation(const InvariantInput& in) const {
  for (int job : in.state.running) {
    if (in.state.phase[U(job)] != JobPhase::kRunning || !Changes(job)) continue;
    const std::size_t now = U(at[U(job)]);
    const double done = in.state.AttainedSteps(job);
    const double end = now + 1 < phases[U(job)].size() ? phases[U(job)][now + 1].from : kNever;
    if (done < phases[U(job)][now].from * (1.0 - kThere) || done > end * (1.0 + kThere))
      return Join("job ", job, " has done ", done, " steps and trains with the batch of ",
                  phases[U(job)][now].from, " to ", end);
  }
  return "";
}

void BatchScheduleState::Note(double now, int job, bool trains) {
  if (Changes(job)) bars_.Show(now, job, trains ? phases[U(job)][U(at[U(job)])].batch : 0);
}

void BatchScheduleState::AddLanes(double now, std::vector<FeatureLane>& lanes) const {
  bars_.AddLanes(now, lanes);
}

FeatureModule BatchScheduleFeature() {
  static constexpr TimerKind kTimers[] = {kBatchChanges};
  FeatureModule module = ModuleOf<BatchScheduleSettings>();
  module.timers = kTimers;
  return module;
}

}  // namespace berth
