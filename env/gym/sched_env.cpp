#include "env/gym/sched_env.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/gym/discount.hpp"
#include "env/gym/episode_draw.hpp"

namespace berth {
namespace {

constexpr std::size_t kHistory = 1 << 15;  // actions of an episode of the default: room for all of them

// A commitment is carried out at once: the next one of the same instant is chosen on what it leaves.
void CheckCommitments(const Scenario& scenario) {
  for (const Features::On& on : scenario.data().features.on()) {
    if (const double delay = on.settings->DecisionDelay(); delay > 0.0) {
      throw Error(Join("semantics commit: expected decisions that take effect at once, found ",
                       on.module->name, "(seconds=", delay, "); semantics redecide has them late"));
    }
  }
}

}  // namespace

SchedEnv::SchedEnv(std::shared_ptr<const ScenarioSource> source, const SchedEnvOptions& options,
                   std::uint32_t index)
    : source_(std::move(source)), options_(options), index_(index), pays_(&PaysBy("")), point_(options.mdp) {
  // Of all environments' first: they share one layout, so all must have as many GPU types (Draw).
  const Scenario probe = source_->Make(options_.seed, options_.split, 0, 0, 1);
  CheckJobs(*source_, options_.jobs, probe);
  if (options_.mdp.knowledge > probe.data().knowledge) {
    throw Error(Join("the decision process asks for knowledge '", ToString(options_.mdp.knowledge),
                     "', the workload grants '", ToString(probe.data().knowledge), "'"));
  }
  if (point_.commits()) CheckCommitments(probe);
  if (point_.commits() && options_.mdp.preemptive)
    throw Error("semantics commit: expected a non-preemptive process");
  if (options_.mdp.commit_backfill && (!point_.commits() || options_.mdp.knowledge < Knowledge::kEstimate)) {
    throw Error("commit_backfill: expected semantics commit and knowledge estimate or oracle with it");
  }
  types_ = probe.num_types();
  if (point_.grid() != nullptr) point_.Begin(Simulator(probe).View(options_.mdp.knowledge));
  layout_ = point_.Layout(options_.mdp.visible, types_);
  actions_ = layout_.q * layout_.g + (point_.commits() ? 0 : 1);
  history_.reserve(kHistory);
  if (options_.warmup) warmup_ = options_.warmup();
}

void SchedEnv::Begin(std::uint32_t episode) {
  episode_ = episode;
  history_.clear();
  // Draws beyond the first have keys that no run reaches by counting episodes.
  for (std::uint32_t draw = 0; draw < 100; ++draw) {
    const std::uint32_t key = episode + draw * 0x9E3779B1u;
    terminated_ = truncated_ = false;
    return_ = 0.0;
    Draw(key);
    pays_->reward.Begin(*simulator_);
    point_.Begin(View());
    if (point_.Layout(options_.mdp.visible, simulator_->scenario().num_types()) != layout_) {
      throw Error(
          Join("the decision process: expected in every episode the commands of the first one's, found "
               "others in episode ",
               episode_, " of environment ", index_, " of ", source_->Describe()));
    }
    WarmUp(key);
    done_jct_ = 0.0;
    done_jobs_ = 0;
    if (terminated_) continue;
    if (point_.PassesOver(View()) || !OpenPoint()) RunToChoice();
    paid_ = pays_->reward.Running(*simulator_);
    pays_->signal.Begin(*simulator_);
    seen_ = simulator_->arrived_jobs();
    if (!terminated_ && !truncated_) return;
  }
  throw Error(Join(source_->Describe(), ": a hundred episodes in a row leave nothing to choose (",
                   options_.episode_jobs, " jobs an episode)"));
}

SchedEnv::Pays& SchedEnv::PaysBy(const std::string& reward) {
  const auto found = all_pays_.find(reward);
  if (found != all_pays_.end()) return found->second;
  MdpSpec mdp = options_.mdp;
  std::string signal = options_.signal;
  if (!reward.empty()) {
    mdp.reward = reward;
    if (signal != "reward") signal = "auto";  // what the process's comes to may not know this one
  }
  return all_pays_.emplace(reward, Pays{Reward(mdp.reward), LearningSignal(signal, mdp)}).first->second;
}

void SchedEnv::Draw(std::uint32_t episode) {
  pays_ = &PaysBy(source_->RewardOf(options_.seed, options_.split, index_, episode));
  const int wanted = options_.warmup_jobs + options_.episode_jobs;
  EpisodeDraw draw =
      DrawEpisode(*source_, options_.jobs, options_.seed, options_.split, index_, episode, wanted);
  if (const int types = draw.scenario.num_types(); types != types_ && point_.grid() == nullptr) {
    throw Error(Join("the decision process: expected workloads of as many GPU types as the first one's ",
                     types_, ", which an observation is laid out for, found ", types, " in episode ",
                     episode_, " of environment ", index_, " of ", source_->Describe()));
  }
  if (point_.commits()) CheckCommitments(draw.scenario);
  endless_ = draw.endless;
  if (!simulator_) {
    simulator_.emplace(std::move(draw.scenario));
    return;
  }
  const Simulator fresh(std::move(draw.scenario));
  *simulator_ = fresh;  // a copy goes into the memory that the lists of the last episode have grown to
}

// Leaves the simulator at a decision point that is still to be decided.
void SchedEnv::WarmUp(std::uint32_t episode) {
  const int jobs = simulator_->scenario().num_jobs();
  const int most = warmup_ ? std::clamp(jobs - options_.episode_jobs, 0, options_.warmup_jobs) : 0;
  Stream stream(options_.seed, Purpose::kWarmup, options_.split, index_, episode);
  const int arrivals = static_cast<int>(stream.Below(static_cast<std::uint32_t>(most) + 1));
  last_arrival_ = arrivals + options_.episode_jobs;
  if (!Advance() || arrivals == 0) return;
  const Knowledge granted = warmup_->knowledge();
  warmup_->Reset(simulator_->View(granted));
  while (simulator_->arrived_jobs() < arrivals) {
    decision_.Clear();
    warmup_->Decide(simulator_->View(granted), decision_);
    Apply();
    if (!Advance()) return;
  }
}

void SchedEnv::Apply() {
  const ApplyResult applied = simulator_->Apply(decision_);
  BERTH_CHECK(applied.ok(), Explain(applied, decision_, *simulator_), "; environment ", index_, ", episode ",
              episode_, ", seed ", options_.seed);
}

bool SchedEnv::Advance() {
  const bool decide = simulator_->AdvanceToDecision();
  pays_->reward.Observe(*simulator_);
  const JobTable& jobs = simulator_->scenario().data().jobs;
  for (int job : simulator_->state().completed) {
    done_jct_ += simulator_->state().completion[U(job)] - jobs.arrival[U(job)];
    ++done_jobs_;
  }
  BERTH_CHECK(!simulator_->stalled(), "jobs wait, nothing runs, nothing will arrive");
  terminated_ = !decide;
  return decide;
}

bool SchedEnv::OfferDone() {
  const bool event_follows =
      simulator_->arrivals_remain() || point_.Runs(View()) ||
      // Repairs and the like, unless the policy could do something itself.
      (simulator_->timers_remain() && point_.mask().starts() == 0) ||
      // Who turned the last job away, or gave the last GPU a layout, has nothing else left.
      (point_.grid() != nullptr && point_.mask().pairs() == 0);
  return point_.OfferDone(event_follows);
}

// False when `done` is all there is: the point can be closed at once.
bool SchedEnv::OpenPoint() {
  moved_ = true;
  const ClusterView view = View();
  point_.Start(view);
  point_.Gather(view);
  point_.Observe(view, options_.mdp.visible);
  point_.OpenMask(view);
  OfferDone();
  return point_.mask().pairs() > 0;
}

bool SchedEnv::Cut() {
  truncated_ = simulator_->arrived_jobs() >= last_arrival_ && !pays_->reward.PaidAtEnd() &&
               (endless_ || simulator_->arrivals_remain());
  // More jobs would come, though not in this piece: where nothing can be placed, waiting for them is legal.
  if (truncated_ && !OpenPoint() && !point_.commits()) point_.OfferDone(/*event_follows=*/true);
  return truncated_;
}

void SchedEnv::RunToChoice() {
  for (;;) {
    decision_.Clear();
    const ClusterView view = View();
    if (!point_.commits() && !point_.PassesOver(view)) point_.Close(view, decision_);
    Apply();
    if (!Advance()) return;
    if (Cut()) return;
    if (!point_.PassesOver(View()) && OpenPoint()) return;
  }
}

// The chosen job blocks the queue until it fits.
void SchedEnv::Commit(const Placement& placement) {
  for (point_.Choose(View(), placement);; point_.Start(View())) {
    decision_.Clear();
    point_.Close(View(), decision_);
    Apply();
    if (!point_.blocked()) break;
    if (!Advance()) return;
  }
  if (Cut()) return;
  if (simulator_->state().waiting.empty() || !OpenPoint()) RunToChoice();
}

SchedEnv::Outcome SchedEnv::Step(int action) {
  BERTH_DCHECK(action >= 0 && action < actions_ && mask()[U(action)] != 0, "action ", action, " is masked");
  history_.push_back(action);
  const double before_time = simulator_->now();
  moved_ = false;
  if (action == point_.done()) {
    RunToChoice();
    return Settle(before_time);
  }
  if (point_.commits()) {
    Commit(point_.PlacementOf(action));
    return Settle(before_time);
  }
  point_.Put(View(), action);
  moved_ = options_.mdp.reread;
  const bool done = OfferDone();
  if (point_.mask().pairs() > 0 || !done) return {};  // the plan grew, nothing happened
  RunToChoice();
  return Settle(before_time);
}

SchedEnv::Outcome SchedEnv::Settle(double before_time) {
  Outcome outcome;
  outcome.terminated = terminated_;
  outcome.truncated = truncated_ && !terminated_;
  const double total = pays_->reward.Running(*simulator_);
  outcome.reward = -(total - paid_);
  paid_ = total;
  if (terminated_) outcome.reward -= pays_->reward.Terminal(*simulator_);
  const double elapsed = simulator_->now() - before_time;
  outcome.discount = DiscountOf(elapsed, options_.mdp.tau_s);
  return_ += outcome.reward;
  outcome.signal = pays_->signal.Settle(*simulator_, outcome.reward, elapsed);
  const Scenario& scenario = simulator_->scenario();
  const JobTable& jobs = scenario.data().jobs;
  for (; seen_ < simulator_->arrived_jobs(); ++seen_, ++outcome.new_jobs)
    outcome.new_work += scenario.WorkingGpus(seen_) * jobs.total_steps[U(seen_)] / scenario.BestRate(seen_);
  return outcome;
}

}  // namespace berth
