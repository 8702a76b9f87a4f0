#include "agents/train/trainer.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <limits>
#include <optional>

#include "agents/gpu/device.hpp"
#include "agents/learner/agent.hpp"
#include "agents/train/checkpoint.hpp"
#include "agents/train/from_policy.hpp"
#include "agents/train/joint_training.hpp"
#include "agents/train/progress_log.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kRecentEpisodes = 100;
constexpr double kProgressEvery = 1.0;                     // s
constexpr std::uint64_t kSeedsApart = 0x9e3779b97f4a7c15;  // between members: no seed that a person gives

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double MeanOf(double sum, std::int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : kNaN;
}

// Means over the latest windows, whole, that together hold 100 episodes or more; over all of this session
// where it has fewer.
class Recent {
 public:
  void Add(const EpisodeStats& stats) {
    if (stats.episodes == 0) return;
    windows_.push_back(stats);
    episodes_ += stats.episodes;
    while (episodes_ - windows_.front().episodes >= kRecentEpisodes) {
      episodes_ -= windows_.front().episodes;
      windows_.pop_front();
    }
  }
  double Mean(double EpisodeStats::*sum, std::int64_t EpisodeStats::*of = &EpisodeStats::episodes) const {
    double total = 0.0;
    std::int64_t count = 0;
    for (const EpisodeStats& window : windows_) total += window.*sum, count += window.*of;
    return MeanOf(total, count);
  }
  double MeanMetric() const { return Mean(&EpisodeStats::metric_sum, &EpisodeStats::measured); }

 private:
  std::deque<EpisodeStats> windows_;
  std::int64_t episodes_ = 0;
};

void CheckRequest(const TrainRequest& request) {
  BERTH_CHECK(request.env != nullptr, "no environment");
  if (request.steps < 1) throw Error(Join("--steps: expected at least 1, found ", request.steps));
  if (request.members < 1 || request.members > kMostMembers)
    throw Error(Join("--members: expected 1 to ", kMostMembers, ", found ", request.members));
  if (request.threads < 1) throw Error(Join("--threads: expected at least 1, found ", request.threads));
  if (request.resume && request.out_dir.empty()) throw Error("--resume: expected --out RUN, found none");
}

void MakeRunFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error(Join("--out: cannot make the folder ", folder, ": ", error.message()));
  }
}

// The GPU of this process among those of its machine.
ChosenDevice DeviceOf(const TrainRequest& request) {
  ChosenDevice chosen = ChooseDevice(request.device, request.network);
  if (!chosen.device.is_cuda() || !request.world.many()) return chosen;
  const int card = CardOf(request.world.local_rank, static_cast<int>(torch::cuda::device_count()));
  if (card == 0) return chosen;
  const torch::Device device(torch::kCUDA, static_cast<c10::DeviceIndex>(card));
  c10::impl::VirtualGuardImpl(device.type()).setDevice(device);  // what names no device means this one
  return {device, Join("cuda:", card)};
}

class Trainer {
 public:
  Trainer(const TrainRequest& request, const ChosenDevice& device, const RunIdentity& run,
          JointTraining& joint)
      : request_(request), device_(device), run_(run), joint_(joint) {
    if (!request.out_dir.empty()) path_ = request.out_dir + "/checkpoint.h5";
    if (request.members > 1) CheckWidth();
    if (request.resume) trained_ = LoadMembers(path_, run_);
    agent_ = MakeMember();
    if (joint.ranks().many() && Writes() && request.on_joined) {
      request.on_joined(Join(request.world.size, " processes have met: gradients by ",
                             joint.ranks().group().Gradients(), "; learner ", agent_->Place()));
    }
  }

  TrainOutcome Run() {
    if (request_.resume) {
      counters_ = LoadCheckpoint(path_, run_, *agent_, *request_.env);
    } else {
      Begin();
      request_.env->Reset(agent_->First());
    }
    joint_.CheckSame(agent_->network());
    const bool done = request_.resume &&  // and all stays as it is
                      (counters_.steps >= request_.steps ||
                       (request_.seconds > 0.0 && counters_.wall_s >= request_.seconds));
    if (!path_.empty() && Writes() && !done) {
      MakeRunFolder(request_.out_dir);
      OpenLog();
    }
    if (Writes() && request_.on_begin && !done) request_.on_begin();
    started_ = window_started_ = saved_at_ = Now();
    wall_before_ = counters_.wall_s;
    window_steps_ = saved_steps_ = counters_.steps;
    saved_validated_steps_ = counters_.validated_steps;
    if (done && request_.wants_validation) validated_steps_ = counters_.validated_steps;  // not asked twice
    TrainOutcome outcome;
    outcome.steps_before = counters_.steps;
    try {
      if (!done && request_.resume && ValidationDue(counters_.validated_steps)) Validate();
      outcome.interrupted = PlayOn();
      // It may have been stopped between its last step and the validation that was asked for.
      if (!outcome.interrupted && request_.validate_every > 0 && validated_steps_ != counters_.steps)
        Validate();
      if (cut_) outcome.interrupted = true;
      if (!done) Report();
      if (counters_.steps != saved_steps_ || !request_.resume || ValidatedSinceSaved()) Save();
      joint_.Finish();
    } catch (const LostRank& lost) {
      outcome.interrupted = true;
      outcome.lost = Join("after step ", counters_.steps, ": ", lost.what(),
                          saved_steps_ > 0 ? Join("; ", path_, " holds step ", saved_steps_)
                                           : std::string("; no checkpoint was written yet"));
    }
    outcome.steps = counters_.steps;
    outcome.wall_s = Wall(Now());
    outcome.mean_return = recent_.Mean(&EpisodeStats::return_sum);
    outcome.mean_metric = recent_.MeanMetric();
    outcome.checkpoint = saved_steps_ > 0 ? path_ : "";
    outcome.device = device_.description;
    return outcome;
  }

 private:
  bool Writes() const { return request_.world.rank == 0; }

  // Refuses now what would be too wide at the end.
  void CheckWidth() const {
    try {
      Describe(WidenArchitecture(request_.network, request_.members), run_.layout, run_.num_actions);
    } catch (const Error& error) {
      throw Error(Join(error.what(), ", as wide as its ", request_.members, " --members together"));
    }
  }

  // Of the member whose turn it is: weights and exploration of its own.
  std::unique_ptr<Agent> MakeMember() const {
    AgentSetup setup;
    setup.network = request_.network;
    setup.layout = run_.layout;
    setup.num_actions = run_.num_actions;
    setup.num_envs = request_.env->num_envs();
    setup.ranks = joint_.ranks();
    setup.seed = request_.seed + kSeedsApart * trained_.size();
    setup.device = device_.device;
    setup.threads = request_.threads;
    return MakeAgent(request_.agent, setup);
  }
  void Begin() {
    if (!request_.from.empty()) agent_->BeginWith(ReadBeginning(request_.from, run_));
  }

  // The next member, on workloads that those before it did not have.
  void NextMember(double wall_s) {
    CheckFinite();
    joint_.CheckSame(agent_->network());
    // Parts are cut from the whole, not from where a rollout happened to end, unless that is beyond the next.
    const auto steps = static_cast<double>(counters_.steps);
    const double next = counters_.began_steps + StepsOfMember();
    counters_.began_steps = steps >= next && steps < next + StepsOfMember() ? next : steps;
    counters_.began_s = wall_s;
    trained_.push_back(MakeNetwork(run_.network, run_.layout, run_.num_actions, request_.seed));
    CopyMeanOutputs(agent_->network(), *trained_.back());
    agent_.reset();
    agent_ = MakeMember();
    Begin();
    request_.env->NextEpisodes(agent_->First());
  }

  // To the end of the steps or the time; true where it was interrupted.
  bool PlayOn() {
    while (counters_.steps < request_.steps) {
      const Turn turn = joint_.Agree(NextTurn(), counters_.steps);
      if (turn.interrupted || turn.out_of_time) return turn.interrupted;
      if (turn.report) Report();
      if (turn.save) Save();
      if (!LastMember() && MembersFraction(turn.wall_s) >= 1.0) NextMember(turn.wall_s);
      const Played played = Play(std::clamp(MembersFraction(turn.wall_s), 0.0, 1.0));
      counters_.steps += played.steps;
      act_s_ += played.act_s;
      env_s_ += played.env_s;
      learn_s_ += played.learn_s;
      if (ValidationDue(counters_.steps - played.steps)) Validate();
    }
    return false;
  }

  bool LastMember() const { return static_cast<int>(trained_.size()) + 1 == request_.members; }
  // What is left of the training as the present member began is divided evenly. With a longer training than
  // before it was resumed that is more for it and those to come.
  double StepsOfMember() const {
    return (static_cast<double>(request_.steps) - counters_.began_steps) / Left();
  }
  double SecondsOfMember() const { return (request_.seconds - counters_.began_s) / Left(); }
  double Left() const { return static_cast<double>(request_.members) - static_cast<double>(trained_.size()); }
  double MembersFraction(double wall_s) const {
    const double steps = (static_cast<double>(counters_.steps) - counters_.began_steps) / StepsOfMember();
    return request_.seconds > 0.0 ? std::max(steps, (wall_s - counters_.began_s) / SecondsOfMember()) : steps;
  }

  bool ValidationDue(std::int64_t since) const {
    const std::int64_t every = request_.validate_every;
    return every > 0 && counters_.steps / every > since / every;
  }

  // Must be kept where the run is not to be asked again. Saving is for all ranks together, which may differ
  // here where one of them alone was interrupted; several have no wants_validation.
  bool ValidatedSinceSaved() const {
    return request_.wants_validation && counters_.validated_steps != saved_validated_steps_;
  }

  void OpenLog() { log_.emplace(request_.out_dir, counters_.steps, request_.validation_figures); }

  // By steps alone, so that all ranks come here together and a run repeats.
  void Validate() {
    const double begun = Now(), wall = Wall(begun), fraction = Fraction(wall);
    if (request_.wants_validation && !request_.wants_validation(wall, fraction)) {
      counters_.validated_steps = counters_.steps;
      return;
    }
    if (saved_steps_ != counters_.steps) Save();
    if (request_.on_validate && Writes() && !Interrupted()) {
      const auto figures = request_.on_validate(counters_.steps, wall, fraction);
      if (!log_ && !path_.empty() && !figures.empty()) OpenLog();  // of a run that was done
      if (log_) log_->Note(counters_.steps, figures);
    }
    joint_.AwaitFirst();  // a validation may take longer than ranks wait for each other
    const double spent = Now() - begun;
    started_ += spent, window_started_ += spent;
    validated_steps_ = counters_.steps;
    cut_ = Interrupted();  // it may be half of one, and is due again
    if (!cut_) counters_.validated_steps = counters_.steps;
  }

  bool Interrupted() const { return request_.interrupted != nullptr && request_.interrupted->load(); }

  Turn NextTurn() const {
    const double now = Now();
    Turn turn;
    turn.wall_s = Wall(now);
    turn.interrupted = Interrupted();
    turn.out_of_time = request_.seconds > 0.0 && turn.wall_s >= request_.seconds;
    turn.save = now - saved_at_ >= request_.checkpoint_every_s;
    turn.report = now - window_started_ >= kProgressEvery;
    return turn;
  }

  double Wall(double now) const { return wall_before_ + now - started_; }

  Played Play(double fraction) {
    try {
      return agent_->Play(*request_.env, fraction);
    } catch (const OutOfDeviceMemory& error) {
      throw Error(error.what() + Kept());
    } catch (const c10::OutOfMemoryError&) {
      throw Error(
          "out of memory on the device: expected room for a step of training, found less; fewer "
          "environments or a smaller batch may fit" +
          Kept());
    }
  }

  // Which checkpoint is left.
  std::string Kept() const {
    return !path_.empty() && saved_steps_ > 0 ? Join(" (", path_, " holds step ", saved_steps_, ")") : "";
  }

  // Without a time limit a function of the steps alone, so that runs repeat.
  double Fraction(double wall_s) const {
    double fraction = static_cast<double>(counters_.steps) / static_cast<double>(request_.steps);
    if (request_.seconds > 0.0) fraction = std::max(fraction, wall_s / request_.seconds);
    return std::min(fraction, 1.0);
  }

  void Report() {
    const double now = Now();
    const double window = std::max(now - window_started_, 1e-9);
    const EpisodeStats stats = joint_.Sum(request_.env->TakeStats());
    recent_.Add(stats);
    TrainProgress progress;
    progress.steps = counters_.steps;
    progress.total_steps = request_.steps;
    progress.member = static_cast<int>(trained_.size()) + 1;
    progress.members = request_.members;
    progress.wall_s = Wall(now);
    progress.steps_per_s = static_cast<double>(counters_.steps - window_steps_) / window;
    progress.mean_return = MeanOf(stats.return_sum, stats.episodes);
    progress.mean_metric = MeanOf(stats.metric_sum, stats.measured);
    progress.backlog_begin = recent_.Mean(&EpisodeStats::backlog_begin_sum);
    progress.backlog_end = recent_.Mean(&EpisodeStats::backlog_end_sum);
    progress.env_share = env_s_ / window;
    progress.act_share = act_s_ / window;
    progress.learn_share = learn_s_ / window;
    progress.losses = agent_->figures();
    if (request_.members > 1 && !progress.losses.empty())
      progress.losses.emplace_back("charts/member", progress.member);
    progress.recent_return = recent_.Mean(&EpisodeStats::return_sum);
    progress.recent_metric = recent_.MeanMetric();
    progress.running_return = MeanOf(stats.running_return_sum, stats.running);
    progress.running_metric = MeanOf(stats.running_metric_sum, stats.running);
    if (log_) log_->Write(progress);
    if (request_.on_progress && Writes()) request_.on_progress(progress);
    window_started_ = now;
    window_steps_ = counters_.steps;
    env_s_ = act_s_ = learn_s_ = 0.0;
  }

  void Save() {
    CheckFinite();
    joint_.CheckSame(agent_->network());
    counters_.wall_s = Wall(Now());
    if (!path_.empty())
      SaveCheckpoint(path_, run_, counters_, trained_, *agent_, *request_.env, joint_.ranks());
    saved_at_ = Now();
    saved_steps_ = counters_.steps;
    saved_validated_steps_ = counters_.validated_steps;
  }

  // A network that diverged must not replace the last good checkpoint.
  void CheckFinite() {
    const torch::NoGradGuard no_grad;
    for (const auto& item : agent_->network().named_parameters()) {
      if (torch::isfinite(item.value()).all().item<bool>()) continue;
      throw Error(Join("training diverged by step ", counters_.steps,
                       ": expected finite parameters, found others in ", item.key(), "; a lower lr may help",
                       Kept()));
    }
  }

  const TrainRequest& request_;
  const ChosenDevice& device_;
  const RunIdentity& run_;
  JointTraining& joint_;
  std::string path_;  // checkpoint, or ""
  Members trained_;   // before the agent's, which is the next
  std::unique_ptr<Agent> agent_;
  std::optional<ProgressLog> log_;
  Recent recent_;
  TrainCounters counters_;
  std::int64_t saved_steps_ = 0, saved_validated_steps_ = 0, window_steps_ = 0;
  std::int64_t validated_steps_ = -1;  // as of which a validation was last asked for in this session
  bool cut_ = false;                   // that one, by an interrupt
  double started_ = 0, wall_before_ = 0, saved_at_ = 0, window_started_ = 0;
  double env_s_ = 0, act_s_ = 0, learn_s_ = 0;  // of the window
};

}  // namespace

TrainOutcome Train(const TrainRequest& request) {
  CheckRequest(request);
  at::set_num_threads(1);
  const ChosenDevice device = DeviceOf(request);
  const RunIdentity run = IdentityOf(request);
  JointTraining joint(request, run, device);
  try {
    return Trainer(request, device, run, joint).Run();
  } catch (const std::exception& error) {
    joint.Abandon(error.what());
    throw;
  }
}

}  // namespace berth
