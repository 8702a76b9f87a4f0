#include "tools/controller/controller.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/controller/kept.hpp"

namespace berth {
namespace {

constexpr double kForecast = 10.0,
                 kForecastCpu = 0.5;  // s from one forecast to the next, and of a core for one
constexpr double kIdle = 60.0;        // s after which it decides though nothing happened

double UnixTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double Monotonic() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

LiveOptions LiveOf(const ControllerOptions& options) {
  LiveOptions live;
  live.partitions = options.partitions, live.control = options.mode == ControlMode::kControl;
  live.preemptive = options.preemptive, live.stops = options.mode != ControlMode::kAdvise;
  live.all_holds = options.all_holds, live.clock = options.clock;
  live.user = UserName();
  return live;
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

LiveCluster Controller::TryScheduler() {
  LiveCluster first(site_, LiveOf(options_));
  first.Update(slurm_.Read(), options_.now());
  scheduler_->Reset(first.View(scheduler_->knowledge()));
  return first;
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

bool Controller::Due() const {
  if (options_.clock.kind != ClockKind::kEvent) return now_s_ >= next_round_s_;
  return live_.news() || retry_ || now_s_ >= wake_at_s_;
}

void Controller::Decide() {
  const double begin = Monotonic();
  retry_ = false;
  promised_.clear(), paused_.clear();
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
  for (const int index : promised_) live_.Withdraw(index);
  for (Paused& job : paused_) live_.Resume(job.index, job.type, std::move(job.devices));
  promised_.clear(), paused_.clear();
  cycle_s_[3] = Monotonic() - begin - cycle_s_[2];
  if (!log_ || (last_decision_["starts"].empty() && last_decision_["stops"].empty())) return;
  Json line = {{"waiting", waiting}, {"active", active}, {"decide_s", cycle_s_[2]}};
  line.update(last_decision_);
  log_->Add(now_s_, "decision", std::move(line));
}

void Controller::Learn(const std::vector<LiveChange>& changes) {
  for (const LiveChange& change : changes) {
    if (change.kind != LiveChange::Kind::kEnded || change.state != "COMPLETED") continue;
    const LiveJob& job = live_.job(change.index);
    // A whole run on one type, of which it is known how much it was.
    if (job.words.steps <= 0.0 || job.slurm.restarts > 0 || job.last_type < 0) continue;
    speeds_.Add(job.job_class, live_.gpu_types()[U(job.last_type)], job.words.steps, job.attained_s);
  }
  for (int index = 0; !options_.out.empty() && index < live_.num_jobs(); ++index) {
    LiveJob& job = live_.job(index);
    if (job.phase != LivePhase::kRunning || job.type < 0) continue;
    const Reported reported = ReadReported(options_.out + "/progress/" + job.slurm.id);
    if (reported.at_s <= job.steps_at_s || reported.at_s > now_s_ + 1.0) continue;
    job.steps_done = reported.steps, job.steps_at_s = reported.at_s, job.steps_rested_s = job.rested_s;
    // Between two reports it was neither suspended nor resumed.
    if (reported.before_s >= std::max(job.run_start_s, job.slurm.suspend_s) &&
        reported.steps > reported.before_steps)
      speeds_.Add(job.job_class, live_.gpu_types()[U(job.type)], reported.steps - reported.before_steps,
                  reported.at_s - reported.before_s);
  }
  if (!speeds_.changed() && live_.beginnings() == noted_) return;
  live_.SetSpeeds(speeds_.Table(live_.gpu_types()));
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
    if (options_.out.empty() && options_.mode != ControlMode::kDryRun)
      throw Error("expected --out, whose heartbeat tells the watchdog that Berth lives, found none");
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
  planned_.clear(), stopping_.clear(), open_.clear();
  live_ = LiveCluster(site_, LiveOf(options_)), noted_ = 0;
  if (log_) log_->Add(now_s_, "mode", {{"from", ToString(before)}, {"to", *asked}});
}

void Controller::Forecast() {
  if (now_s_ < forecast_at_s_ || forecasts_.busy() || options_.forecast.empty()) return;
  forecast_at_s_ = now_s_ + kForecast;
  if (live_.Waits()) forecasts_.Begin(MomentOf(live_), now_s_, options_.forecast, kForecastCpu);
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
  NoteLeft();
  // Who cannot write down what it does, asks nothing: without a heartbeat the watchdog takes over.
  if (log_) log_->Flush();
  if (options_.mode != ControlMode::kDryRun) GiveBack();
  if (options_.mode == ControlMode::kControl) {
    TendHolds();
    TendOrdered();
    CarryOutPlanned();
  }
  if (Due() && (planned_.empty() || options_.clock.kind != ClockKind::kEvent)) {
    planned_.clear(), stopping_.clear();  // of the round before
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
  std::ofstream file(temporary, std::ios::trunc);
  file << std::llround(options_.now()) << std::endl;
  file.close();
  if (!file) throw Error(Join(temporary, ": cannot be written: ", std::strerror(errno)));
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
      if (!problem.empty()) std::cerr << "berth serve: goes on" << std::endl;
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
