#include "env/sim/core.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "env/base/index.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

// splitmix64's finaliser (Steele et al. 2014): spreads every input bit over the word.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

#ifdef BERTH_DEBUG_CHECKS
constexpr bool kAlwaysAudit = true;
#else
constexpr bool kAlwaysAudit = false;
#endif

// An audit looks at every job and GPU so seldom that this costs little beside looking at those that changed.
// Odd: after decisions, when invariants hold, and between them.
int AuditAllEvery(int jobs, int gpus) {
  return kAlwaysAudit ? 1 : (256 + jobs + gpus) | 1;
}

[[noreturn]] void FailAudit(double now, const std::string& broken) {
  throw AuditFailure(Join("audit: at ", now, " s: ", broken));
}

}  // namespace

const char* ToString(EventKind kind) {
  static constexpr const char* kNames[] = {"complete", "arrive", "stop",      "move", "start",
                                           "reject",   "pack",   "interrupt", "down", "up"};
  return kNames[static_cast<std::size_t>(kind)];
}

SimCore::SimCore(Scenario scenario, SimulatorOptions options)
    : scenario_(std::move(scenario)), options_(options) {
  const int jobs = scenario_.num_jobs();
  const int types = scenario_.num_types();
  const int gpus = scenario_.num_gpus();
  SimState& s = state_;
  for (const GpuType& type : scenario_.data().cluster.types) s.free_gpus.push_back(type.count);
  s.device_job.assign(U(gpus), -1);
  s.device_milli.assign(U(gpus), 1000);
  for (JobList* list : {&s.waiting, &s.running, &s.active}) list->Reset(jobs);
  s.changed.reserve(U(4 * gpus));  // all that runs moves, and as many arrive: a step does not allocate
  s.phase.assign(U(jobs), JobPhase::kFuture);
  s.on_type.assign(U(jobs), -1);
  s.last_type.assign(U(jobs), -1);
  s.partner.assign(U(jobs), -1);
  s.shared_from.assign(U(jobs), kNever);
  for (auto* column : {&s.rate, &s.steps_done, &s.progress_from, &s.run_start, &s.run_seconds, &s.busy_from,
                       &s.shared_seconds, &s.gpu_seconds}) {
    column->assign(U(jobs), 0.0);
  }
  s.first_start.assign(U(jobs), kNever);
  s.completion.assign(U(jobs), kNever);
  s.preemptions.assign(U(jobs), 0);
  s.slot.assign(U(jobs), -1);

  version_.assign(U(jobs), 0);
  rank_.assign(U(jobs), 0);
  job_stamp_.assign(U(jobs), 0);
  device_stamp_.assign(U(gpus), 0);
  host_stamp_.assign(U(jobs), 0);
  command_of_.assign(U(jobs), 0);
  failures_.assign(U(jobs), 0);
  spare_.assign(U(types), 0);
  free_bits_.assign(U((gpus + 63) / 64), 0);
  for (int d = 0; d < gpus; ++d) free_bits_[U(d / 64)] |= std::uint64_t{1} << (d % 64);
  busy_seconds_.assign(U(types), 0.0);
  shared_seconds_.assign(U(types), 0.0);
  job_seconds_at_arrival_.assign(U(jobs), 0.0);
  job_seconds_at_end_.assign(U(jobs), 0.0);
  left_at_.assign(U(jobs), kNever);

  if (options_.stop_after_last < 0) options_.stop_after_last = jobs;
  BERTH_CHECK(options_.stop_after_first >= 0 && options_.stop_after_last <= jobs, "window [",
              options_.stop_after_first, ", ", options_.stop_after_last, ") of ", jobs, " jobs");
  window_left_ = std::max(0, options_.stop_after_last - options_.stop_after_first);
  finished_ = window_left_ == 0;
  if (!scenario_.plain()) StartFeatures();
  if (kAlwaysAudit || AuditOn()) auditor_.emplace(AuditAllEvery(jobs, gpus));
}

double SimCore::NextArrival() const {
  return ArrivalsRemain() ? scenario_.data().jobs.arrival[U(next_arrival_)] : kNever;
}

void SimCore::Log(double time, EventKind kind, int type, int job, int device) {
  std::uint64_t h = state_.history;
  h = Mix(h ^ std::bit_cast<std::uint64_t>(time));
  h = Mix(h ^ (static_cast<std::uint64_t>(kind) << 56 | static_cast<std::uint64_t>(type & 0xff) << 48 |
               static_cast<std::uint64_t>(static_cast<std::uint32_t>(job))));
  state_.history = Mix(h ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(device)));
  if (options_.keep_events) events_.push_back({time, kind, static_cast<std::int8_t>(type), job, device});
}

void SimCore::AdvanceJobSeconds(double time) {
  job_seconds_ += static_cast<double>(InSystem()) * (time - job_seconds_time_);
  job_seconds_time_ = time;
}

double SimCore::JobSeconds() const {
  return job_seconds_ + static_cast<double>(InSystem()) * (state_.now - job_seconds_time_);
}

double SimCore::BusySeconds(int type) const {
  double busy = busy_seconds_[U(type)], shared = shared_seconds_[U(type)];
  for (int job : state_.running) {
    if (state_.on_type[U(job)] != type || state_.phase[U(job)] != JobPhase::kRunning) continue;
    busy += state_.Width(job) * (state_.now - state_.busy_from[U(job)]);
    const bool first = state_.partner[U(job)] > job;  // of a pair
    if (first && state_.now > state_.shared_from[U(job)]) shared += state_.now - state_.shared_from[U(job)];
  }
  for (const FeatureState& feature : state_.features.Of(Hook::kSharedSeconds))
    shared += feature.SharedSeconds(state_.now, type);
  return busy - shared;
}

double SimCore::FinishTime(int job) const {
  const double left = scenario_.data().jobs.total_steps[U(job)] - state_.steps_done[U(job)];
  return state_.progress_from[U(job)] + std::max(left, 0.0) / state_.rate[U(job)];
}

// What a start costs: nothing the first time; afterwards the checkpoint of the stop before it, the restore,
// and the migration when the type is another.
double SimCore::Overhead(int job, int type) const {
  const int last = state_.last_type[U(job)];
  if (last < 0) return 0.0;
  const Costs& costs = scenario_.data().costs;
  return costs.checkpoint_s + costs.restore_s + (last != type ? costs.migration_s : 0.0);
}

double SimCore::MoveCost() const {
  const Costs& costs = scenario_.data().costs;
  return costs.checkpoint_s + costs.restore_s + costs.migration_s;
}

void SimCore::Arrive(int job, double time) {
  TakeIn(job, time);
  const int first = options_.stop_after_first, last = options_.stop_after_last;
  if (job == first + (last - first) / 2) halfway_ = BacklogAt(time);
  if (job == last - 1) at_last_ = BacklogAt(time);
}

void SimCore::TakeIn(int job, double time) {
  AdvanceJobSeconds(time);
  job_seconds_at_arrival_[U(job)] = job_seconds_;
  for (FeatureState& feature : state_.features.Of(Hook::kBlocks)) {
    if (feature.Blocks(*this, job, time)) return;
  }
  Ready(job, time);
}

Backlog SimCore::BacklogAt(double time) const {
  Backlog backlog{time, InSystem()};
  // Arrivals within a round find its jobs at work; of reference rounds all steps are counted by then.
  const bool reference = scenario_.data().clock.kind == ClockKind::kReferenceRounds;
  for (int job = 0; job < scenario_.num_jobs(); ++job) {
    const bool blocked = !state_.blocked.empty() && state_.blocked[U(job)] != 0;
    if (!blocked && !state_.active.Contains(job)) continue;
    const double done = state_.AttainedSteps(job, reference ? state_.now : time);
    const double left = scenario_.data().jobs.total_steps[U(job)] - done;
    backlog.gpu_seconds += scenario_.WorkingGpus(job) * std::max(left, 0.0) / scenario_.BestRate(job);
  }
  return backlog;
}

void SimCore::Ready(int job, double time) {
  state_.phase[U(job)] = JobPhase::kWaiting;
  state_.waiting.Insert(job);
  state_.active.Insert(job);
  state_.arrived.push_back(job);
  Changed(job);
  for (FeatureState& feature : state_.features.Of(Hook::kOnReady)) feature.OnReady(*this, job, time);
  Log(time, EventKind::kArrive, -1, job, -1);
}

void SimCore::Leave(int job, double time, JobPhase phase) {
  AdvanceJobSeconds(time);
  job_seconds_at_end_[U(job)] = job_seconds_;
  left_at_[U(job)] = time;
  state_.phase[U(job)] = phase;
  if (state_.active.Contains(job)) state_.active.Erase(job);  // not one that was blocked
  Changed(job);
  if (job >= options_.stop_after_first && job < options_.stop_after_last) --window_left_;
  if (phase != JobPhase::kRejected) return;
  for (FeatureState& feature : state_.features.Of(Hook::kOnLeave)) feature.OnLeave(*this, job, time);
}

void SimCore::Block(int job) {
  state_.blocked[U(job)] = 1;
  ++state_.num_blocked;
}

void SimCore::Unblock(int job, double time) {
  state_.blocked[U(job)] = 0;
  AdvanceJobSeconds(time);
  --state_.num_blocked;
}

void SimCore::TurnAway(int job, double time) {
  Leave(job, time, JobPhase::kRejected);
  Log(time, EventKind::kReject, -1, job, -1);
}

void SimCore::EndRun(int job, double time) {
  SimState& s = state_;
  const double held = time - s.busy_from[U(job)];
  s.run_seconds[U(job)] += held;
  s.busy_from[U(job)] = time;
  s.gpu_seconds[U(job)] += s.Width(job) * held;
  busy_seconds_[U(s.on_type[U(job)])] += s.Width(job) * held;
  ++version_[U(job)];
  for (FeatureState& feature : s.features.Of(Hook::kOnRun))
    feature.OnRun(*this, job, time, held, /*starts=*/false);
}

void SimCore::Release(int job) {
  SimState& s = state_;
  const auto slot = U(s.slot[U(job)]);
  bool others_stay = false;
  for (FeatureState& feature : s.features.Of(Hook::kBeforeRelease)) feature.BeforeRelease(*this, job);
  for (FeatureState& feature : s.features.Of(Hook::kVacate))
    others_stay = others_stay || feature.Vacate(*this, job);
  if (s.partner[U(job)] >= 0) {
    s.device_job[U(s.device_slots[slot].front())] = s.partner[U(job)];
    Part(job);
  } else if (!others_stay) {
    int idle = 0;
    for (int d : s.device_slots[slot]) {
      s.device_job[U(d)] = -1;
      s.device_milli[U(d)] = 1000;
      if (!s.InService(d)) continue;
      free_bits_[U(d / 64)] |= std::uint64_t{1} << (d % 64);
      ++idle;
    }
    s.free_gpus[U(s.on_type[U(job)])] += idle;
  }
  for (FeatureState& feature : s.features.Of(Hook::kAfterRelease)) {
    for (int d : s.device_slots[slot]) feature.AfterRelease(*this, d);
  }
  s.device_slots[slot].clear();
  s.free_slots.push_back(s.slot[U(job)]);
  s.slot[U(job)] = -1;
  s.on_type[U(job)] = -1;
  s.running.Erase(job);
  Changed(job);
}

void SimCore::Complete(int job, double time, bool release_devices) {
  SimState& s = state_;
  const int type = s.on_type[U(job)];
  const int device = s.Devices(job).front();
  if (s.partner[U(job)] >= 0) EndSharing(job, time);
  EndRun(job, time);
  s.steps_done[U(job)] = scenario_.data().jobs.total_steps[U(job)];
  s.completion[U(job)] = time;
  EndIdleRow();
  Leave(job, time, JobPhase::kDone);
  s.completed.push_back(job);
  Log(time, EventKind::kComplete, type, job, device);
  for (FeatureState& feature : s.features.Of(Hook::kOnLeave)) feature.OnLeave(*this, job, time);
  if (release_devices) Release(job);
}

void SimCore::StartRun(int job, int type, double overhead) {
  SimState& s = state_;
  RunStart start{overhead};
  for (const FeatureState& feature : s.features.Of(Hook::kRunsOn))
    start.resizes = start.resizes || feature.RunsOn(*this, job, type);
  for (FeatureState& feature : s.features.Of(Hook::kStartCost)) feature.StartCost(*this, job, type, start);
  // What the start before still owed, a resize owes; a save under way is broken off.
  const double from = start.resizes && !start.saving ? std::max(s.now, s.progress_from[U(job)]) : s.now;
  s.phase[U(job)] = JobPhase::kRunning;
  s.on_type[U(job)] = static_cast<std::int8_t>(type);
  s.last_type[U(job)] = static_cast<std::int8_t>(type);
  s.rate[U(job)] = RunRate(job);
  for (FeatureState& feature : s.features.Of(Hook::kOnRate)) feature.OnRate(*this, job);
  // A start is from what was saved; a resize saves nothing.
  if (!s.safe_steps.empty() && !start.resizes) Save(job);
  idle_at_start_ = idle_timers_;
  s.run_start[U(job)] = s.busy_from[U(job)] = s.now;
  for (FeatureState& feature : s.features.Of(Hook::kOnRun))
    feature.OnRun(*this, job, s.now, /*held_s=*/0.0, /*starts=*/true);
  s.progress_from[U(job)] = from + start.overhead_s;
  for (FeatureState& feature : s.features.Of(Hook::kOnStart)) feature.OnStart(*this, job, start);
  Changed(job);
  s.first_start[U(job)] = std::min(s.first_start[U(job)], s.now);
  // RLScheduler keeps a list of running jobs that it sorts by finish, stably (HPCSimPickJobs.py).
  if (scenario_.data().clock.kind == ClockKind::kHpc) rank_[U(job)] = ++starts_;
  QueueFinish(job);
}

std::vector<int>& SimCore::TakeSlot(int job) {
  SimState& s = state_;
  if (s.free_slots.empty()) {
    s.free_slots.push_back(static_cast<std::int32_t>(s.device_slots.size()));
    s.device_slots.emplace_back();
  }
  s.slot[U(job)] = s.free_slots.back();
  s.free_slots.pop_back();
  return s.device_slots[U(s.slot[U(job)])];
}

bool SimCore::MayTake(int job, int device) const {
  for (const FeatureState& feature : state_.features.Of(Hook::kMayTake)) {
    if (!feature.MayTake(job, device)) return false;
  }
  return true;
}

// Gives the job its devices: the explicit ones, those that a feature chooses, or the lowest-numbered free
// ones of the type.
bool SimCore::Place(int job, const Command& command, const Decision& decision) {
  SimState& s = state_;
  for (FeatureState& feature : s.features.Of(Hook::kPlace)) {
    const Placing placing = feature.Place(*this, job, command, decision);
    if (placing != Placing::kNotMine) return placing == Placing::kPlaced;
  }
  const int gang = Width(command);
  std::vector<int>& devices = TakeSlot(job);
  if (command.devices_count > 0) {
    const auto begin = decision.devices.begin() + command.devices_begin;
    devices.assign(begin, begin + command.devices_count);
  } else {
    for (FeatureState& feature : s.features.Of(Hook::kChoose)) {
      const Placing placing = feature.Choose(*this, command, gang, devices);
      if (placing == Placing::kPlaced) break;
      if (placing == Placing::kNotMine) continue;
      s.free_slots.push_back(std::exchange(s.slot[U(job)], -1));
      return false;
    }
    for (int d = scenario_.first_device(command.type); static_cast<int>(devices.size()) < gang;) {
      const std::uint64_t word = free_bits_[U(d / 64)] >> (d % 64);
      if (word == 0) {
        d = (d / 64 + 1) * 64;
        continue;
      }
      d += std::countr_zero(word);
      devices.push_back(d++);
    }
  }
  for (int d : devices) {
    s.device_job[U(d)] = job;
    s.device_milli[U(d)] = 0;
    Occupy(d);
  }
  s.free_gpus[U(command.type)] -= gang;
  s.on_type[U(job)] = static_cast<std::int8_t>(command.type);
  for (FeatureState& feature : s.features.Of(Hook::kOnPlaced)) feature.OnPlaced(*this, job, /*beside=*/false);
  return true;
}

// A move has left its devices by now, and others may have taken them: it is stopped.
void SimCore::LeaveUnplaced(const Command& command) {
  SimState& s = state_;
  for (FeatureState& feature : s.features.Of(Hook::kOnUnplaced)) feature.OnUnplaced(*this, command.job);
  Changed(command.job);
  if (s.phase[U(command.job)] != JobPhase::kRunning) return;
  Log(s.now, EventKind::kStop, s.last_type[U(command.job)], command.job, -1);
  s.phase[U(command.job)] = JobPhase::kWaiting;
  s.waiting.Insert(command.job);
}

void SimCore::Reported() {
  if (!reported_) return;
  reported_ = false;
  for (FeatureState& feature : state_.features.Of(Hook::kOnReported)) feature.OnReported(*this);
  state_.changed_since = state_.history;
  state_.changed.clear();
  audited_ = 0;
}

ApplyResult SimCore::Apply(const Decision& decision) {
  if (ApplyResult result = Validate(decision); !result.ok()) return result;
  for (FeatureState& feature : state_.features.Of(Hook::kDefers)) {
    if (feature.Defers(*this, decision)) return {};
  }
  Reported();
  SimState& s = state_;
  s.ForgetUnlisted();
  bool packs = false;
  for (const Command& c : decision.commands) {  // all that frees first
    const bool pack = c.kind == CommandKind::kPack;
    packs = packs || pack;
    if (c.kind == CommandKind::kStop || c.kind == CommandKind::kMove ||
        (pack && s.phase[U(c.job)] == JobPhase::kRunning)) {
      if (s.now > s.progress_from[U(c.job)]) {
        s.steps_done[U(c.job)] = s.AttainedSteps(c.job);
      }
      if (c.kind == CommandKind::kStop) {
        Log(s.now, EventKind::kStop, s.on_type[U(c.job)], c.job, s.Devices(c.job).front());
      }
      EndRun(c.job, s.now);
      Release(c.job);
      ++s.preemptions[U(c.job)];
      if (c.kind == CommandKind::kStop) {
        s.phase[U(c.job)] = JobPhase::kWaiting;
        s.waiting.Insert(c.job);
      }
    } else if (c.kind == CommandKind::kReject) {
      s.waiting.Erase(c.job);
      Leave(c.job, s.now, JobPhase::kRejected);
      Log(s.now, EventKind::kReject, -1, c.job, -1);
    }
  }
  for (const Control& control : decision.controls) {
    for (FeatureState& feature : s.features.Of(Hook::kCarryOut)) {
      if (feature.CarryOut(*this, control)) break;
    }
  }
  // Explicit devices before chosen ones, so that "lowest-numbered free" never takes one that was named.
  for (const bool named : {true, false}) {
    for (const Command& c : decision.commands) {
      const bool starts = c.kind == CommandKind::kStart || c.kind == CommandKind::kMove;
      if (!starts || (c.devices_count > 0) != named) continue;
      const bool moves = c.kind == CommandKind::kMove;
      if (!Place(c.job, c, decision)) {
        LeaveUnplaced(c);
        continue;
      }
      StartRun(c.job, c.type, moves ? MoveCost() : Overhead(c.job, c.type));
      if (!moves) s.waiting.Erase(c.job);
      s.running.Insert(c.job);
      Log(s.now, moves ? EventKind::kMove : EventKind::kStart, c.type, c.job, s.Devices(c.job).front());
    }
  }
  if (packs) ApplyPacks(decision);
  for (FeatureState& feature : s.features.Of(Hook::kClaim)) feature.Claim(*this);
  Settle();
  wake_at_ = decision.wake_at > s.now ? decision.wake_at : kNever;
  for (FeatureState& feature : s.features.Of(Hook::kOnDecided)) feature.OnDecided(*this);
  const bool everyone = auditor_ && auditor_->WholeNext(/*within_round=*/false, /*last=*/false);
  Audit();
  if (everyone) {
    if (const std::string broken = CheckInvariants(*this); !broken.empty()) FailAudit(s.now, broken);
  }
  return {};
}

void SimCore::AuditNow(bool within_round) {
  const bool last = window_left_ == 0 || finished_ || stalled_;
  const bool whole = auditor_->WholeNext(within_round, last);
  std::vector<double> busy;
  for (int type = 0; whole && type < scenario_.num_types(); ++type) busy.push_back(BusySeconds(type));
  const double job_seconds = whole ? JobSeconds() : 0.0;
  const std::string violation =
      auditor_->Observe({scenario_, state_, busy, job_seconds, within_round, last, audited_});
  audited_ = state_.changed.size();
  if (!violation.empty()) FailAudit(state_.now, violation);
}

}  // namespace berth
