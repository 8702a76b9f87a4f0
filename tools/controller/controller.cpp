#include "tools/controller/controller.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/controller/node_choice.hpp"

namespace berth {
namespace {

constexpr double kGrace = 15.0;    // s that Slurm has to start what was released
constexpr double kPause = 30.0;    // s for which a job that did not start is not offered again
constexpr double kRevoked = 1.5;   // s after a stop in which a job does not start again on the same node
constexpr double kPlanned = 30.0;  // s for which a start waits for the GPUs that a stop frees
constexpr double kForecast = 10.0,
                 kForecastCpu = 0.5;  // s from one forecast to the next, and of a core for one
constexpr double kIdle = 60.0;        // s after which it decides though nothing happened
constexpr std::size_t kKept = 1000, kShown = 100;

double UnixTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double Monotonic() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class T>
void Keep(std::deque<T>& values, T value, std::size_t most) {
  values.push_back(std::move(value));
  if (values.size() > most) values.pop_front();
}

LiveOptions LiveOf(const ControllerOptions& options) {
  LiveOptions live;
  live.partitions = options.partitions, live.control = options.mode == ControlMode::kControl;
  live.preemptive = options.preemptive && live.control;
  live.all_holds = options.all_holds, live.clock = options.clock;
  return live;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ",") + word;
  return all;
}

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

}  // namespace

const char* ToString(ControlMode mode) {
  return kControllerModes[static_cast<std::size_t>(mode)];
}

Controller::Controller(ControllerOptions options, SiteFile site, std::unique_ptr<Scheduler> scheduler,
                       StatusBoard& board)
    : options_(std::move(options)),
      site_(std::move(site)),
      scheduler_(std::move(scheduler)),
      board_(board),
      slurm_(options_.recorded, options_.command_s),
      live_(site_, LiveOf(options_)),
      speeds_(site_, options_.out.empty() ? "" : options_.out + "/speeds.json") {
  if (!options_.now) options_.now = UnixTime;
  CheckSlurm();
  if (!options_.out.empty()) {
    std::filesystem::create_directories(options_.out + "/progress");
    log_.emplace(options_.out + "/decisions.jsonl");
  }
}

void Controller::TryScheduler() {
  LiveCluster first(site_, LiveOf(options_));
  first.Update(slurm_.Read(), options_.now());
  scheduler_->Reset(first.View(scheduler_->knowledge()));
}

void Controller::CheckSlurm() {
  if (!options_.recorded.empty()) return;
  const std::string config = slurm_.Config();
  cluster_ = ConfigValue(config, "ClusterName");
  const std::string version = ConfigValue(config, "SLURM_VERSION");
  if (std::atof(version.c_str()) < 21.08)
    throw Error(Join("Slurm: expected version 21.08 or later, which answers in JSON, found ",
                     version.empty() ? "none" : version));
  if (options_.mode == ControlMode::kDryRun) return;
  if (const double skew = ClockSkew(config, options_.now()); std::fabs(skew) > 3.0)
    throw Error(Join("clock: expected that of slurmctld's machine to within 3 s, found ", std::round(skew),
                     " s ahead: run NTP on both"));
  if (const std::string missing = MissingRights(slurm_, config); !missing.empty())
    throw Error(Join("rights to change jobs: ", missing));
  if (options_.mode == ControlMode::kAdvise && ConfigValue(config, "PriorityType") != "priority/multifactor")
    throw Error(
        Join("--advise: expected PriorityType=priority/multifactor, whose jobs have a nice value, found ",
             ConfigValue(config, "PriorityType")));
}

std::vector<int> Controller::IdleCpus() const {
  std::vector<int> idle;
  for (const SlurmGpuNode& node : live_.nodes()) idle.push_back(node.idle_cpus);
  return idle;
}

Json Controller::ClassesJson() const {
  Json classes = Json::array();
  for (std::size_t c = 0; c < site_.classes.size(); ++c) {
    Json speeds = Json::object();
    for (std::size_t g = 0; g < live_.types().size(); ++g)
      speeds[live_.types()[g].name] = live_.Speed(static_cast<int>(c), static_cast<int>(g));
    classes.push_back({{"name", site_.classes[c].name}, {"steps_per_s", speeds}});
  }
  return classes;
}

void Controller::NoteBegin() {
  if (!log_) return;
  Json types = Json::array();
  for (std::size_t g = 0; g < live_.types().size(); ++g) {
    const GpuType& type = live_.types()[g];
    Json nodes = Json::array();
    for (std::size_t n = 0; n < live_.nodes().size(); ++n) {
      if (U(live_.TypeOfNode(static_cast<int>(n))) == g) nodes.push_back(live_.nodes()[n].name);
    }
    types.push_back(
        {{"name", type.name}, {"gpus", type.count}, {"gpus_per_node", type.gpus_per_node}, {"nodes", nodes}});
  }
  log_->Add(now_s_, "begin",
            {{"scheduler", options_.scheduler},
             {"mode", ToString(options_.mode)},
             {"clock", options_.clock.ToString()},
             {"slurm", state_.version},
             {"types", types},
             {"classes", ClassesJson()}});
}

void Controller::Note(const std::vector<LiveChange>& changes) {
  for (const LiveChange& change : changes) {
    if (change.kind == LiveChange::Kind::kNode) {
      const SlurmGpuNode& node = live_.nodes()[U(change.index)];
      if (log_)
        log_->Add(
            now_s_, "node",
            {{"name", node.name}, {"in_service", node.usable}, {"state", node.state}, {"why", node.reason}});
      continue;
    }
    const LiveJob& job = live_.job(change.index);
    const SlurmJob& from = job.slurm;
    if (change.kind == LiveChange::Kind::kStarted) {
      if (job.ordered_s > 0.0 && options_.mode == ControlMode::kControl)
        Keep(release_to_start_, now_s_ - job.ordered_s, kKept);
      if (would_start_.erase(from.id) > 0) {
        for (Json& said : would_) {
          if (said["id"] == from.id && said["slurm"].is_null())
            said["slurm"] = Join("started on ", Joined(from.nodes), " after ",
                                 std::lround(std::max(0.0, now_s_ - said["at_s"].get<double>())), " s");
        }
      } else if (options_.mode == ControlMode::kDryRun && job.attained_s == 0.0 && counts_.cycles > 0) {
        Keep<Json>(would_,
                   {{"at_s", now_s_},
                    {"id", from.id},
                    {"what", "not start it yet"},
                    {"slurm", Join("started on ", Joined(from.nodes))}},
                   kShown);
      }
    }
    if (!log_) continue;
    switch (change.kind) {
      case LiveChange::Kind::kArrived: {
        Json line = {{"id", from.id},
                     {"name", from.name},
                     {"user", from.user},
                     {"partition", from.partition},
                     {"gpus", from.gpus},
                     {"class", site_.classes[U(job.job_class)].name},
                     {"submitted", from.submit_s}};
        if (!from.gpu_type.empty()) line["type"] = from.gpu_type;
        if (std::isfinite(from.limit_s)) line["limit_s"] = from.limit_s;
        if (job.words.steps > 0.0) line["steps"] = job.words.steps;
        if (job.words.checkpoint) line["checkpoint"] = true;
        log_->Add(now_s_, "job", std::move(line));
        break;
      }
      case LiveChange::Kind::kStarted:
        log_->Add(
            now_s_, "start",
            {{"id", from.id}, {"nodes", from.nodes}, {"devices", job.devices}, {"since", job.run_start_s}});
        break;
      case LiveChange::Kind::kStopped:
        log_->Add(now_s_, "stop", {{"id", from.id}, {"steps", job.steps_done}});
        break;
      default:
        log_->Add(now_s_, "end", {{"id", from.id}, {"state", change.state}, {"steps", job.steps_done}});
    }
  }
}

bool Controller::Due() const {
  if (options_.clock.kind != ClockKind::kEvent) return now_s_ >= next_round_s_;
  return live_.news() || retry_ || now_s_ >= wake_at_s_;
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
  if (options_.mode == ControlMode::kControl && live_.AtArrayLimit(live_.job(index).slurm)) return false;
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
  if (options_.mode != ControlMode::kControl) {
    for (const int device : *devices) live_.SetHolder(device, index), promised_.push_back(device);
  }
  if (options_.mode == ControlMode::kDryRun) {
    if (would_start_.insert(id).second)
      Keep<Json>(would_,
                 {{"at_s", now_s_}, {"id", id}, {"what", "start on " + Joined(nodes)}, {"slurm", nullptr}},
                 kShown);
    return true;
  }
  if (options_.mode == ControlMode::kAdvise) return true;
  if (!MayChange()) return false;
  std::vector<std::string> pin = {"update", "JobId=" + id};
  if (!UserNamed(live_.job(index).slurm)) {  // what its user said stands
    pin.emplace_back("ReqNodeList=" + Joined(nodes));
    pin.emplace_back("AdminComment=berth pinned");
  }
  // Slurm would have what it requeued wait for cred_expire seconds (120); the new run gets a new credential.
  if (live_.job(index).preemptions > 0) pin.emplace_back("StartTime=now");
  std::string why = pin.size() > 2 ? Ask(id, "pin", pin) : "";
  if (why.empty()) why = Ask(id, "release", {"release", id});
  if (!why.empty()) {
    live_.Pause(index, now_s_ + kPause, "Slurm refused: " + why);
    return false;
  }
  ++counts_.released;
  live_.Order(index, type, *devices, options_.now());
  return true;
}

bool Controller::Stop(int index) {
  const LiveJob& job = live_.job(index);
  last_decision_["stops"].push_back({{"id", job.slurm.id}});
  if (options_.mode != ControlMode::kControl || job.phase != LivePhase::kRunning) return false;
  if (!job.words.checkpoint || !job.slurm.requeue || !MayChange()) return false;
  if (!Ask(job.slurm.id, "requeue", {"requeuehold", job.slurm.id}).empty()) return false;
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
    int best = -1;
    for (std::size_t g = 0; g < live_.types().size(); ++g) {
      const auto type = static_cast<int>(g);
      if ((live_.AllowedTypes(job) >> g & 1) == 0 || live_.types()[g].count < job.slurm.gpus ||
          live_.Speed(job.job_class, type) <= 0.0)
        continue;
      if (best < 0 || live_.Speed(job.job_class, type) > live_.Speed(job.job_class, best)) best = type;
      if (Start(index, type, {}, idle_cpus)) {
        best = -2;
        break;
      }
    }
    if (best == -2) continue;
    if (best < 0) continue;
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
  std::set<int> stopped;  // of a dry run none is
  for (const Command& command : decision_.commands) {
    if (command.kind != CommandKind::kStop && command.kind != CommandKind::kMove) continue;
    if (Stop(command.job)) {
      stopped.insert(command.job);
    } else if (live_.job(command.job).phase == LivePhase::kOrdered) {
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
    if (waits ? !stopped.empty() : stopped.contains(command.job)) {
      planned_.push_back({IdOf(command.job), command.type, wanted, now_s_ + kPlanned});
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
    if (index < 0 || now_s_ > plan.until_s) continue;
    const LivePhase phase = live_.job(index).phase;
    if (phase == LivePhase::kOrdered || phase == LivePhase::kGone || phase == LivePhase::kLeft) continue;
    if (phase == LivePhase::kWaiting && Start(index, plan.type, plan.wanted, idle_cpus)) continue;
    // What Slurm refused just now is decided anew.
    if (phase != LivePhase::kWaiting || live_.job(index).phase == phase) left.push_back(std::move(plan));
  }
  std::erase_if(stopping_, [&](const std::string& id) {
    const int index = live_.Find(id);
    return index < 0 || live_.job(index).phase != LivePhase::kRunning;
  });
  // When all have stopped, what still does not fit is for the next decision.
  planned_ = stopping_.empty() ? std::vector<Planned>() : std::move(left);
  retry_ = retry_ || (planned_.empty() && !left.empty());
}

void Controller::Decide() {
  const double begin = Monotonic();
  retry_ = false;
  last_decision_ = {{"starts", Json::array()}, {"stops", Json::array()}};
  std::vector<int> idle_cpus = IdleCpus(), withheld;
  StartStarving(idle_cpus, withheld);
  const Knowledge known = scheduler_->knowledge();
  const ClusterView view = live_.View(known, withheld);
  if (live_.begun_anew()) scheduler_->Reset(view);
  decision_.Clear();
  if (view.num_active() > 0) scheduler_->Decide(view, decision_);
  wake_at_s_ =
      std::min(now_s_ + kIdle, decision_.wake_at < kNever
                                   ? now_s_ + std::max(options_.poll_s, decision_.wake_at - view.now())
                                   : kNever);
  const int waiting = view.num_waiting(), active = view.num_active();
  live_.Decided();
  ++counts_.decisions;
  cycle_s_[2] = Monotonic() - begin;
  CarryOut(idle_cpus);
  if (options_.mode == ControlMode::kAdvise) Advise();
  for (const int device : promised_) live_.SetHolder(device, LiveCluster::kNobody);
  promised_.clear();
  cycle_s_[3] = Monotonic() - begin - cycle_s_[2];
  if (!log_ || (last_decision_["starts"].empty() && last_decision_["stops"].empty())) return;
  Json line = {{"waiting", waiting}, {"active", active}, {"decide_s", cycle_s_[2]}};
  line.update(last_decision_);
  log_->Add(now_s_, "decision", std::move(line));
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
  std::erase_if(gave_back_, [&](const auto& tried) { return tried.second < now_s_ - kPause; });
  for (const SlurmJob& job : state_.jobs) {
    if (!job.held() || !job.marked() || !live_.InPartitions(job)) continue;
    const int index = live_.Find(job.id);
    const bool hopeless = index < 0 || !live_.Fits(live_.job(index));
    if ((options_.mode == ControlMode::kControl && !hopeless) || gave_back_.contains(job.id) || !MayChange())
      continue;
    gave_back_[job.id] = now_s_;
    (void)Ask(job.id, "give back", {"release", job.id});
  }
}

// Released jobs that do not start are taken back: somebody else has the GPUs, or a limit of the site holds
// them.
void Controller::TendOrdered() {
  for (int index = 0; index < live_.num_jobs(); ++index) {
    LiveJob& job = live_.job(index);
    const bool ordered = job.phase == LivePhase::kOrdered;
    if (!ordered && !(job.phase == LivePhase::kLeft && job.slurm.admin_comment == "berth pinned")) continue;
    if (job.ordered_s == 0.0) job.ordered_s = now_s_;  // by a controller before this one
    if (now_s_ < std::max(job.ordered_s, job.slurm.eligible_s) + kGrace || !MayChange()) continue;
    const std::string why = job.slurm.reason.empty() ? "it did not start" : job.slurm.reason;
    if (!Ask(job.slurm.id, "hold", {"hold", job.slurm.id}).empty()) continue;
    Refused(job.slurm.id, "start", why);
    live_.Pause(index, now_s_ + kPause, "Slurm did not start it: " + why);
  }
}

void Controller::Learn(const std::vector<LiveChange>& changes) {
  for (const LiveChange& change : changes) {
    if (change.kind != LiveChange::Kind::kEnded || change.state != "COMPLETED") continue;
    const LiveJob& job = live_.job(change.index);
    // A whole run on one type, of which it is known how much it was.
    if (job.words.steps <= 0.0 || job.preemptions > 0 || job.last_type < 0) continue;
    speeds_.Add(job.job_class, live_.types()[U(job.last_type)].name, job.words.steps, job.attained_s);
  }
  for (int index = 0; !options_.out.empty() && index < live_.num_jobs(); ++index) {
    LiveJob& job = live_.job(index);
    if (job.phase != LivePhase::kRunning || job.type < 0) continue;
    const Reported reported = ReadReported(options_.out + "/progress/" + job.slurm.id);
    if (reported.at_s <= job.steps_at_s || reported.at_s > now_s_ + 1.0) continue;
    job.steps_done = reported.steps, job.steps_at_s = reported.at_s;
    if (reported.before_s >= job.run_start_s && reported.steps > reported.before_steps)
      speeds_.Add(job.job_class, live_.types()[U(job.type)].name, reported.steps - reported.before_steps,
                  reported.at_s - reported.before_s);
  }
  if (!speeds_.changed() && live_.beginnings() == noted_) return;
  std::vector<std::string> types;
  for (const GpuType& type : live_.types()) types.push_back(type.name);
  live_.SetSpeeds(speeds_.Table(types));
  if (speeds_.changed() && log_) log_->Add(now_s_, "speeds", {{"classes", ClassesJson()}});
  if (speeds_.changed()) speeds_.Save();
}

void Controller::TakeMode() {
  const std::optional<std::string> asked = board_.TakeAskedMode();
  if (!asked || *asked == ToString(options_.mode)) return;
  const ControlMode before = options_.mode;
  for (const ControlMode mode : {ControlMode::kDryRun, ControlMode::kAdvise, ControlMode::kControl}) {
    if (*asked == ToString(mode)) options_.mode = mode;
  }
  try {
    CheckSlurm();
    if (before != ControlMode::kDryRun) (void)Release();
  } catch (const Error& error) {
    Refused("", "mode " + *asked, error.what());
    options_.mode = before;
    return;
  }
  // Without it job_submit.lua holds no further jobs, and the watchdog releases those that it holds yet.
  if (before == ControlMode::kControl && !options_.out.empty())
    std::filesystem::remove(options_.out + "/heartbeat");
  planned_.clear(), stopping_.clear(), would_start_.clear();
  live_ = LiveCluster(site_, LiveOf(options_)), noted_ = 0;
  if (log_) log_->Add(now_s_, "mode", {{"from", ToString(before)}, {"to", *asked}});
}

int Controller::Release() {
  int released = 0;
  for (const SlurmJob& job : slurm_.Read().jobs) {
    if (!job.pending()) continue;
    const std::optional<double> own = OwnNice(job);
    const bool held = job.held() && job.marked();
    if (job.admin_comment != "berth pinned" && !own && !held) continue;  // it is Slurm's
    std::string why;
    if (job.admin_comment == "berth pinned")
      why = slurm_.Ask({"update", "JobId=" + job.id, "ReqNodeList=", "AdminComment=berth"});
    if (own) why = slurm_.Ask(NiceBack(job, *own));
    if (why.empty() && held) why = slurm_.Ask({"release", job.id});
    if (!why.empty()) Refused(job.id, "release", why);
    released += why.empty() ? 1 : 0;
  }
  return released;
}

void Controller::Forecast() {
  if (now_s_ < forecast_at_s_ || forecasts_.busy() || options_.forecast.empty()) return;
  forecast_at_s_ = now_s_ + kForecast;
  LiveMoment moment = MomentOf(live_);
  const bool any =
      std::any_of(moment.moment.jobs.begin(), moment.moment.jobs.end(),
                  [](const StartMoment::Job& job) { return job.phase == StartMoment::Phase::kWaiting; });
  if (any) forecasts_.Begin(std::move(moment), now_s_, options_.forecast, kForecastCpu);
}

void Controller::Cycle() {
  const double begin = Monotonic();
  TakeMode();
  cycle_s_ = {};
  state_ = slurm_.Read();
  cycle_s_[1] = Monotonic() - begin;
  now_s_ = options_.now();
  const std::vector<LiveChange> changes = live_.Update(state_, now_s_);
  Learn(changes);
  if (live_.beginnings() != noted_) NoteBegin();
  noted_ = live_.beginnings();
  Note(changes);
  if (options_.mode != ControlMode::kDryRun) GiveBack();
  if (options_.mode == ControlMode::kControl) {
    TendOrdered();
    CarryOutPlanned();
  }
  if (Due() && planned_.empty()) {
    Decide();
    if (options_.clock.kind != ClockKind::kEvent)
      next_round_s_ = (std::floor(now_s_ / options_.clock.round_s) + 1.0) * options_.clock.round_s;
  }
  Forecast();
  if (log_) log_->Flush();
  ++counts_.cycles;
  cycle_s_[0] = Monotonic() - begin;
  Keep(cycles_, cycle_s_[0], kKept);
  Beat();
  Publish("");
}

// What tells job_submit.lua and the watchdog that somebody releases what is held. By a rename, so that
// whoever reads it finds the old one or the new one.
void Controller::Beat() {
  if (options_.out.empty() || options_.mode != ControlMode::kControl) return;
  const std::string path = options_.out + "/heartbeat", temporary = path + ".new";
  {
    std::ofstream file(temporary, std::ios::trunc);
    file << std::llround(options_.now()) << "\n";
  }
  std::filesystem::rename(temporary, path);
}

// Whether tools/slurm/watchdog lives: it writes a file beside the heartbeat every second.
bool Controller::Watched() const {
  std::error_code none;
  const auto at = std::filesystem::last_write_time(options_.out + "/heartbeat.watchdog", none);
  return !none && std::filesystem::file_time_type::clock::now() - at < std::chrono::seconds(10);
}

void Controller::Run(const std::atomic<bool>& stop) {
  std::string problem;
  while (!stop.load()) {
    const double begin = Monotonic();
    try {
      Cycle();
      if (!problem.empty()) std::cerr << "berth serve: Slurm answers again" << std::endl;
      problem.clear();
    } catch (const std::exception& error) {
      ++counts_.errors;
      if (problem != error.what()) std::cerr << "berth serve: " << error.what() << std::endl;
      problem = error.what();
      Publish(problem);
    }
    // At rest it looks less often, since nobody waits for it; while something is about to start more often,
    // since what ends next may have to be decided at once.
    const double next = begin + std::min(2.0, (live_.Rests()   ? 2.0
                                               : live_.Moves() ? 0.5
                                                               : 1.0) *
                                                  options_.poll_s);
    while (!stop.load() && Monotonic() < next)
      std::this_thread::sleep_for(
          std::chrono::duration<double>(std::min(0.1, std::max(0.001, next - Monotonic()))));
  }
}

}  // namespace berth
