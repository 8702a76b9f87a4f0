#include "env/gym/task_placement.hpp"

#include <algorithm>
#include <numeric>

#include "env/gym/batched_envs.hpp"
#include "env/gym/discount.hpp"
#include "env/gym/episode_draw.hpp"

namespace berth {
namespace {

void CheckPlain(const Scenario& scenario) {
  if (!scenario.plain()) {
    throw Error(Join("task placement: expected a cluster without features, found '",
                     ToString(scenario.data().features), "'"));
  }
}

}  // namespace

TaskPlacement::TaskPlacement(std::shared_ptr<const ScenarioSource> source,
                             const TaskPlacementOptions& options, std::uint32_t index)
    : source_(std::move(source)), options_(options), index_(index) {
  if (options_.reward != kMeanUtilization) reward_.emplace(options_.reward);
  // Of all environments' first: they share one layout, so all must have as many GPUs (Begin).
  const Scenario probe = source_->Make(options_.seed, options_.split, 0, 0, 1);
  CheckJobs(*source_, options_.jobs, probe);
  CheckPlain(probe);
  mask_.resize(U(probe.num_gpus()));
  observation_.resize(1 + mask_.size());
}

ChannelInfo TaskPlacement::Channel(int index, int episode_jobs) {
  if (index == 0)
    return {"queue", "tasks that wait, at most an episode's", 0.0F, static_cast<float>(episode_jobs)};
  return {"utilization", "1 = a task holds this GPU", 0.0F, 1.0F};
}

void TaskPlacement::Begin(std::uint32_t episode) {
  episode_ = episode;
  history_.clear();
  terminated_ = truncated_ = false;
  return_ = done_jct_ = 0.0;
  done_jobs_ = 0;
  EpisodeDraw draw = DrawEpisode(*source_, options_.jobs, options_.seed, options_.split, index_, episode,
                                 options_.episode_jobs);
  CheckPlain(draw.scenario);
  if (const int gpus = draw.scenario.num_gpus(); gpus != num_actions()) {
    throw Error(Join("task placement: expected workloads of as many GPUs as the first one's ", num_actions(),
                     ", which an observation is laid out for, found ", gpus, " in episode ", episode,
                     " of environment ", index_, " of ", source_->Describe()));
  }
  endless_ = draw.endless;
  simulator_.emplace(std::move(draw.scenario));
  if (reward_) reward_->Begin(*simulator_);
  if (Advance() && !Offer()) RunToChoice();
  // An episode of one instant, such as a single task, is over once its tasks are placed, not before.
  BERTH_CHECK(!terminated_, "an episode without a choice");
  paid_ = Paid();
}

bool TaskPlacement::Advance() {
  const bool decide = simulator_->AdvanceToDecision();
  if (reward_) reward_->Observe(*simulator_);
  const JobTable& jobs = simulator_->scenario().data().jobs;
  for (int job : simulator_->state().completed) {
    done_jct_ += simulator_->state().completion[U(job)] - jobs.arrival[U(job)];
    ++done_jobs_;
  }
  BERTH_CHECK(!simulator_->stalled(), "tasks wait, nothing runs, nothing will arrive");
  terminated_ = !decide;
  return decide;
}

bool TaskPlacement::Offer() {
  const ClusterView view = View();
  observation_[0] = static_cast<float>(std::min(view.num_waiting(), options_.episode_jobs));
  bool choice = false;
  for (int type = 0; type < view.num_types(); ++type) {
    const int first = view.first_device(type), last = first + view.cluster().types[U(type)].count;
    const bool open = view.num_waiting() > 0 && view.Rate(view.waiting().front(), type) > 0.0 &&
                      view.Gang(view.waiting().front()) <= view.free_gpus()[U(type)];
    for (int gpu = first; gpu < last; ++gpu) {
      const bool idle = view.DeviceFree(gpu);
      observation_[1 + U(gpu)] = idle ? 0.0F : 1.0F;
      mask_[U(gpu)] = open && idle;
    }
    choice = choice || open;
  }
  return choice;
}

void TaskPlacement::RunToChoice() {
  for (;;) {
    decision_.Clear();
    const ApplyResult applied = simulator_->Apply(decision_);
    BERTH_CHECK(applied.ok(), Explain(applied, decision_, *simulator_));
    const bool decide = Advance(), choice = Offer();
    if (!decide || Cut() || choice) return;
  }
}

bool TaskPlacement::Cut() {
  const bool at_end = reward_ && reward_->PaidAtEnd();
  truncated_ = simulator_->arrived_jobs() >= options_.episode_jobs && !at_end &&
               (endless_ || simulator_->arrivals_remain());
  return truncated_;
}

double TaskPlacement::Utilization() const {
  return std::accumulate(observation_.begin() + 1, observation_.end(), 0.0) /
         static_cast<double>(mask_.size());
}

TaskPlacement::Outcome TaskPlacement::Step(int action) {
  BERTH_DCHECK(action >= 0 && action < num_actions() && mask_[U(action)] != 0, "GPU ", action, " is masked");
  history_.push_back(action);
  const double before_time = simulator_->now();
  const ClusterView view = View();
  const int job = view.waiting().front();
  int type = view.num_types() - 1;
  while (view.first_device(type) > action) --type;
  devices_.assign(1, action);
  for (int gpu = view.first_device(type); static_cast<int>(devices_.size()) < view.Gang(job); ++gpu) {
    if (gpu != action && view.DeviceFree(gpu)) devices_.push_back(gpu);
  }
  decision_.Clear();
  decision_.Start(job, type, devices_);
  const ApplyResult applied = simulator_->Apply(decision_);
  BERTH_CHECK(applied.ok(), Explain(applied, decision_, *simulator_));
  const bool choice = Offer();
  if (!Cut() && !choice) RunToChoice();

  Outcome outcome;
  outcome.terminated = terminated_;
  outcome.truncated = truncated_ && !terminated_;
  const double total = Paid();
  outcome.reward = reward_ ? -(total - paid_) : -Utilization();
  paid_ = total;
  if (reward_ && terminated_) outcome.reward -= reward_->Terminal(*simulator_);
  const double elapsed = simulator_->now() - before_time;
  outcome.discount = DiscountOf(elapsed, options_.tau_s);
  return_ += outcome.reward;
  return outcome;
}

std::unique_ptr<VecEnv> MakeTaskPlacement(std::shared_ptr<const ScenarioSource> source,
                                          const TaskPlacementOptions& options, int num_envs, int threads) {
  CheckEpisodes(num_envs, threads, options.episode_jobs, options.tau_s);
  return std::make_unique<BatchedEnvs<TaskPlacement>>(
      num_envs, threads, [&](std::uint32_t i) { return TaskPlacement(source, options, i); });
}

}  // namespace berth
