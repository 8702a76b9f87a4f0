// What the controller asks of Slurm: starts, stops, holds and priorities.
#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/controller/controller.hpp"
#include "tools/controller/kept.hpp"
#include "tools/controller/node_choice.hpp"

namespace berth {
namespace {

constexpr double kGrace = 15.0;  // s that Slurm has to start what was released
constexpr double kPause = 30.0;  // s for which a job that did not start is not offered again
// s after a stop in which a job does not start again on the same node; so long each run lasts, so that only
// the nodes of the last one have to be known.
constexpr double kRevoked = 1.5;
constexpr double kPlanned = 30.0;  // s for which a start waits for the GPUs that a stop frees

// Whose nice value --advise has changed says in its admin comment what it was, for the day it is taken back.
constexpr std::string_view kNiceWas = "berth nice was ";

std::optional<double> OwnNice(const SlurmJob& job) {
  if (!job.admin_comment.starts_with(kNiceWas)) return std::nullopt;
  return std::atof(job.admin_comment.c_str() + kNiceWas.size());
}

std::vector<std::string> NiceBack(const SlurmJob& job, double own) {
  return {"update", "JobId=" + job.id, Join("Nice=", static_cast<std::int64_t>(own)),
          "AdminComment=berth nice"};
}

std::vector<std::string> Mark(const SlurmJob& job, const std::string& mark) {
  std::vector<std::string> words = {"update", "JobId=" + job.id};
  if (job.pinned()) words.emplace_back("ReqNodeList=");
  words.push_back("AdminComment=" + mark);
  return words;
}

// Of a job that is Slurm's and its user's from now on.
constexpr const char* kLeft = "berth-left";

}  // namespace

std::vector<int> Controller::IdleCpus() const {
  std::vector<int> idle;
  for (const SlurmGpuNode& node : live_.nodes()) idle.push_back(node.idle_cpus);
  return idle;
}

bool Controller::MayChange() {
  while (!changes_at_.empty() && changes_at_.front() < now_s_ - 60.0) changes_at_.pop_front();
  if (static_cast<int>(changes_at_.size()) >= options_.changes_per_minute) {
    retry_ = true;
    return false;
  }
  changes_at_.push_back(now_s_);
  return true;
}

void Controller::Refused(const std::string& id, const std::string& what, const std::string& why) {
  ++counts_.refused;
  Keep<Json>(refusals_, {{"at_s", now_s_}, {"id", id}, {"what", what}, {"why", why}}, kShown);
}

std::string Controller::Ask(const std::string& id, const char* what, const std::vector<std::string>& words) {
  const std::string why = slurm_.Ask(words);
  if (log_) {
    Json line = {{"id", id}, {"what", what}};
    if (!why.empty()) line["refused"] = why;
    log_->Add(options_.now(), "order", std::move(line));
  }
  if (!why.empty()) Refused(id, what, why);
  return why;
}

// True: it was released, or in a dry run would have been.
bool Controller::Start(int index, int type, std::span<const int> wanted, std::vector<int>& idle_cpus) {
  if (live_.AtArrayLimit(live_.job(index).slurm)) return false;
  const std::optional<std::vector<int>> devices = ChooseGpus(live_, index, type, wanted, idle_cpus);
  if (!devices) return false;
  // A slurmd takes no credential of the second in which it revoked the job's last one: Slurm would end the
  // job as failed.
  const LiveJob& job = live_.job(index);
  const auto left = [&](int device) { return std::ranges::count(job.left_nodes, live_.NodeOf(device)) > 0; };
  if (now_s_ < job.stopped_s + kRevoked && std::ranges::any_of(*devices, left)) {
    retry_ = true;
    return false;
  }
  const std::vector<std::string> nodes = NodesOf(live_, *devices);
  const std::string id = IdOf(index);
  last_decision_["starts"].push_back({{"id", id}, {"type", live_.types()[U(type)].name}, {"nodes", nodes}});
  // For the rest of the decision it counts as started, so that neither it nor its GPUs are started again.
  if (options_.mode != ControlMode::kControl)
    live_.Order(index, type, *devices, now_s_), promised_.push_back(index);
  if (options_.mode == ControlMode::kDryRun) Would("start", id, " on " + Joined(nodes));
  if (options_.mode != ControlMode::kControl) return true;
  if (!MayChange()) return false;
  std::vector<std::string> pin = {"update", "JobId=" + id};
  if (!live_.job(index).slurm.user_named()) {  // what its user said stands
    pin.emplace_back("ReqNodeList=" + Joined(nodes));
    pin.emplace_back("AdminComment=berth pinned");
    pin.emplace_back("Priority=0");  // from now on Slurm tells this hold from its user's
  }
  // Slurm would have what it requeued wait for cred_expire seconds (120); the new run gets a new credential.
  if (live_.job(index).slurm.restarts > 0) pin.emplace_back("StartTime=now");
  std::string why = pin.size() > 2 ? Ask(id, "pin", pin) : "";
  if (why.empty()) why = Ask(id, "release", {"release", id});
  if (!why.empty()) {
    live_.Pause(index, now_s_ + kPause, "Slurm refused: " + why, nodes);
    return false;
  }
  ++counts_.released;
  live_.Order(index, type, *devices, options_.now());
  return true;
}

bool Controller::Stop(int index, std::vector<int>& idle_cpus) {
  const LiveJob& job = live_.job(index);
  last_decision_["stops"].push_back({{"id", job.slurm.id}});
  if (options_.mode == ControlMode::kAdvise || job.phase != LivePhase::kRunning) return false;
  if (!job.words.checkpoint || !job.slurm.requeue || job.slurm.suspended()) return false;
  if (now_s_ < job.run_start_s + kRevoked) {
    retry_ = true;
    return false;
  }
  if (options_.mode == ControlMode::kDryRun) {
    // For the rest of the decision its GPUs are free, so that what would start on them is said too.
    Would("requeue", job.slurm.id);
    paused_.push_back({index, job.type, job.devices});
    FreeCpus(live_, index, idle_cpus);
    live_.Withdraw(index);
    return false;
  }
  if (!MayChange()) return false;
  if (job.slurm.left() && !Ask(job.slurm.id, "mark", Mark(job.slurm, "berth")).empty()) return false;
  // Without the word Slurm also runs a job again that has ended since the look.
  if (!Ask(job.slurm.id, "requeue", {"requeuehold", "Incomplete", job.slurm.id}).empty()) return false;
  ++counts_.requeued;
  stopping_.insert(job.slurm.id);
  live_.StopOrdered(index, options_.now());
  return true;
}

// Who has waited longest beyond the limit goes before all that the scheduler says: at once where it fits;
// else GPUs of one type are kept free for it as others end.
void Controller::StartStarving(std::vector<int>& idle_cpus, std::vector<int>& withheld) {
  for (int index = 0; index < live_.num_jobs(); ++index) {  // in order of arrival
    const LiveJob& job = live_.job(index);
    if (job.phase != LivePhase::kWaiting || now_s_ - job.arrival_s - job.attained_s < options_.starve_s)
      continue;
    const std::uint64_t fits = live_.FittingTypes(job);
    int best = -1;
    bool started = false;
    for (std::size_t g = 0; g < live_.types().size(); ++g) {
      const auto type = static_cast<int>(g);
      if ((fits >> g & 1) == 0) continue;
      if (best < 0 || live_.Speed(job.job_class, type) > live_.Speed(job.job_class, best)) best = type;
      started = Start(index, type, {}, idle_cpus);
      if (started) break;
    }
    if (started || best < 0) continue;
    live_.job(index).why = Join("waited over ", options_.starve_s / 3600.0, " h: the next free ",
                                live_.types()[U(best)].name, " are kept for it");
    for (int device = 0; device < live_.num_devices(); ++device) {
      if (live_.TypeOf(device) == best && live_.Holder(device) == LiveCluster::kNobody)
        withheld.push_back(device);
    }
    return;  // one at a time: two that each keep GPUs might wait for each other
  }
}

void Controller::CarryOut(std::vector<int>& idle_cpus) {
  std::set<int> stopped;  // by Slurm
  for (const Command& command : decision_.commands) {
    if (command.kind != CommandKind::kStop && command.kind != CommandKind::kMove) continue;
    if (Stop(command.job, idle_cpus)) {
      stopped.insert(command.job);
    } else if (options_.mode == ControlMode::kControl &&
               live_.job(command.job).phase == LivePhase::kOrdered) {
      retry_ = true;  // it cannot be stopped before it has started
    }
  }
  for (const Command& command : decision_.commands) {
    if (command.kind == CommandKind::kReject) Refused(IdOf(command.job), "reject", "Berth turns no job away");
    if (command.kind == CommandKind::kPack)
      Refused(IdOf(command.job), "share a GPU", "Slurm's jobs have whole GPUs here");
    if (command.kind != CommandKind::kStart && command.kind != CommandKind::kMove) continue;
    const auto begin = decision_.devices.begin() + command.devices_begin;
    const std::vector<int> wanted(begin, begin + command.devices_count);
    const bool waits = live_.job(command.job).phase == LivePhase::kWaiting;
    if (waits && Start(command.job, command.type, wanted, idle_cpus)) continue;
    const bool later = !stopped.empty() ||
                       (options_.mode == ControlMode::kControl && options_.clock.kind != ClockKind::kEvent);
    if (waits ? later && live_.job(command.job).phase == LivePhase::kWaiting
              : stopped.contains(command.job)) {
      planned_.push_back(
          {IdOf(command.job), live_.job(command.job).arrival_s, command.type, wanted, now_s_ + kPlanned});
    } else if (waits && live_.job(command.job).phase == LivePhase::kWaiting) {
      live_.job(command.job).why = Join("no ", live_.types()[U(command.type)].name,
                                        " nodes with the GPUs and CPUs free as it asks for them");
    }
  }
}

void Controller::CarryOutPlanned() {
  std::vector<int> idle_cpus = IdleCpus();
  std::vector<Planned> left;
  for (Planned& plan : planned_) {
    const int index = live_.Find(plan.id);
    if (index < 0 || live_.job(index).arrival_s != plan.arrival_s || now_s_ > plan.until_s) continue;
    const LivePhase phase = live_.job(index).phase;
    if (phase == LivePhase::kOrdered || phase == LivePhase::kGone || phase == LivePhase::kLeft) continue;
    if (phase == LivePhase::kWaiting && Start(index, plan.type, plan.wanted, idle_cpus)) continue;
    // What Slurm refused just now is decided anew.
    if (phase != LivePhase::kWaiting || live_.job(index).phase == phase) left.push_back(std::move(plan));
  }
  std::erase_if(stopping_, [&](const std::string& id) {
    const int index = live_.Find(id);
    return index < 0 ||
           (live_.job(index).phase != LivePhase::kRunning && live_.job(index).slurm.state != "COMPLETING");
  });
  // When all have stopped, what still does not fit is for the next decision: in rounds it may fit before
  // that.
  const bool over = stopping_.empty() && options_.clock.kind == ClockKind::kEvent;
  retry_ = retry_ || (over && !left.empty());
  planned_ = over ? std::vector<Planned>() : std::move(left);
}

// Who would be started goes to the front of Slurm's queue by its nice value; who no longer would gets its own
// back.
void Controller::Advise() {
  double top = 0.0;
  std::set<std::string> chosen;
  for (const Json& start : last_decision_["starts"]) chosen.insert(start["id"].get<std::string>());
  for (int i = 0; i < live_.num_jobs(); ++i) {
    const SlurmJob& job = live_.job(i).slurm;
    const std::optional<double> own = OwnNice(job);
    if (job.pending() && !chosen.contains(job.id))
      top = std::max(top, job.priority + (own ? job.nice - *own : 0.0));
  }
  double rank = static_cast<double>(chosen.size());
  for (const Json& start : last_decision_["starts"]) {
    const int index = live_.Find(start["id"].get<std::string>());
    const SlurmJob& job = live_.job(index).slurm;
    const double target = top + rank--;
    // Somebody else's admin comment is not overwritten.
    if (!job.admin_comment.empty() && !job.admin_comment.starts_with("berth")) continue;
    if (job.held() || job.priority >= target || !MayChange()) continue;
    const auto nice = static_cast<std::int64_t>(std::floor(job.nice + job.priority - target));
    const double own = OwnNice(job).value_or(job.nice);
    (void)Ask(job.id, "nice",
              {"update", "JobId=" + job.id, Join("Nice=", nice),
               Join("AdminComment=", kNiceWas, static_cast<std::int64_t>(own))});
  }
  for (int i = 0; i < live_.num_jobs(); ++i) {
    const SlurmJob& job = live_.job(i).slurm;
    const std::optional<double> own = OwnNice(job);
    if (own && job.pending() && !chosen.contains(job.id) && MayChange())
      (void)Ask(job.id, "nice", NiceBack(job, *own));
  }
}

// What Berth will never start goes on under Slurm's own order: in --control jobs that it cannot place, and in
// --advise whoever job_submit.lua held.
void Controller::GiveBack() {
  std::erase_if(tended_at_, [&](const auto& tried) { return tried.second < now_s_ - kPause; });
  for (const SlurmJob& job : state_.jobs) {
    if (!job.held_by_berth() || live_.HeldSinceReleased(job) || !live_.InPartitions(job)) continue;
    // A row that is gone was another job's of this number, or asked for GPUs as long as it was there.
    const int index = live_.Find(job.id);
    const bool hopeless = index < 0 || live_.job(index).phase == LivePhase::kGone ||
                          !live_.Asks(live_.job(index).slurm).empty() ||
                          live_.FittingTypes(live_.job(index)) == 0;
    if ((options_.mode == ControlMode::kControl && !hopeless) || tended_at_.contains(job.id) || !MayChange())
      continue;
    tended_at_[job.id] = now_s_;
    if (Ask(job.id, "give back", {"release", job.id}).empty())
      (void)Ask(job.id, "give back", Mark(job, kLeft));
  }
}

// What users hold: with --holds all Berth says on each job that it is Berth's from now on, so that it is
// given back as the others are; and a hold of a job that Berth had released stays its user's.
void Controller::TendHolds() {
  for (int index = 0; index < live_.num_jobs(); ++index) {
    const SlurmJob& job = live_.job(index).slurm;
    const bool adopts = live_.Adopts(job) && live_.FittingTypes(live_.job(index)) != 0;
    const char* const what = adopts ? "adopt" : live_.HeldSinceReleased(job) ? "leave to its user" : nullptr;
    if (what == nullptr || tended_at_.contains(what + job.id) || !MayChange()) continue;
    tended_at_[what + job.id] = now_s_;
    (void)Ask(job.id, what, Mark(job, adopts ? "berth" : kLeft));
  }
}

// Released jobs that do not start are taken back: somebody else has the GPUs, or a limit of the site holds
// them. What can never start there Slurm holds by itself, at once; what no longer is to start there is taken
// back at once.
void Controller::TendOrdered() {
  for (int index = 0; index < live_.num_jobs(); ++index) {
    LiveJob& job = live_.job(index);
    const bool ordered = job.phase == LivePhase::kOrdered;
    if (!ordered && !(job.phase == LivePhase::kLeft && job.slurm.pinned())) continue;
    if (const std::string why = live_.Overtaken(job); !why.empty() && !job.slurm.held_by_slurm()) {
      if (!MayChange() || !Ask(job.slurm.id, "hold", {"hold", job.slurm.id}).empty()) continue;
      // Whoever is requeued as soon as it starts would be so again and again.
      const bool soon = job.requeued && job.ordered_s > 0.0 && now_s_ < job.ordered_s + kGrace;
      live_.Pause(index, soon ? now_s_ + kPause : now_s_, why, {});
      continue;
    }
    if (job.ordered_s == 0.0) job.ordered_s = now_s_;  // by a controller before this one
    if (!job.slurm.held_by_slurm()) {
      if (now_s_ < std::max(job.ordered_s, job.slurm.eligible_s) + kGrace || !MayChange()) continue;
      if (!Ask(job.slurm.id, "hold", {"hold", job.slurm.id}).empty()) continue;
    }
    const std::string why = job.slurm.reason.empty() ? "it did not start" : job.slurm.reason;
    Refused(job.slurm.id, "start", why);
    live_.Pause(index, now_s_ + kPause, "Slurm did not start it: " + why,
                ordered ? NodesOf(live_, job.devices) : job.slurm.required);
  }
}

int Controller::Release(int* pinned) {
  int released = 0, running = 0;
  for (const SlurmJob& job : slurm_.Read().jobs) {
    running += job.holds_gpus() && job.pinned() ? 1 : 0;
    if (!job.pending()) continue;
    const std::optional<double> own = OwnNice(job);
    const bool held = job.held_by_berth() && !live_.HeldSinceReleased(job);
    if (!job.pinned() && !own && !held) continue;  // it is Slurm's
    std::string why;
    if (own) why = slurm_.Ask(NiceBack(job, *own));
    if (job.pinned()) why = slurm_.Ask(held ? Mark(job, "berth") : Mark(job, kLeft));
    if (why.empty() && held) why = slurm_.Ask({"release", job.id});
    // Last: until then the watchdog knows it as Berth's.
    if (why.empty() && held) why = slurm_.Ask({"update", "JobId=" + job.id, Join("AdminComment=", kLeft)});
    if (!why.empty()) Refused(job.id, "release", why);
    released += why.empty() ? 1 : 0;
  }
  if (pinned != nullptr) *pinned = running;
  return released;
}

}  // namespace berth
