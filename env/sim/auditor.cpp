#include "env/sim/auditor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr const char* kTime = "time";
constexpr const char* kClock = "clock";
constexpr const char* kPhases = "phases";
constexpr const char* kWork = "work";
constexpr const char* kHeldSeconds = "held seconds";
constexpr const char* kBusy = "GPU-seconds";
constexpr const char* kJobSeconds = "job-seconds";
constexpr const char* kRules[] = {kTime, kClock, kPhases, kWork, kHeldSeconds, kBusy, kJobSeconds};

// Run::partner of a job that holds a part of device d is kPartOf - d.
constexpr int kPartOf = -2;

// Two books add the same terms in another order, and differences of times lose what the times' size costs. At
// times that no cluster sees both may be infinite.
bool Same(double a, double b, double scale) {
  return a == b || std::max(a, b) - std::min(a, b) <= 1e-9 * std::max({1.0, a, b}) + 1e-13 * scale;
}

bool MayFollow(JobPhase before, JobPhase after) {
  if (before == after) return true;
  switch (before) {
    case JobPhase::kFuture:
    case JobPhase::kWaiting:
    case JobPhase::kRunning:
      return after != JobPhase::kFuture;
    case JobPhase::kDone:
    case JobPhase::kRejected:
      break;
  }
  return false;
}

// Steps of all runs, also those that were lost since.
double Work(const SimState& s, int job) {
  return s.AttainedSteps(job) + (s.lost_steps.empty() ? 0.0 : s.lost_steps[U(job)]);
}

bool Gone(JobPhase phase) {
  return phase == JobPhase::kDone || phase == JobPhase::kRejected;
}

}  // namespace

bool AuditOn() {
  const char* said = std::getenv("BERTH_AUDIT");
  return said != nullptr && std::string_view(said) == "1";
}

Audited::Audited() : was_on_(AuditOn()) {
  setenv("BERTH_AUDIT", "1", /*replace=*/1);
}

Audited::~Audited() {
  if (!was_on_) unsetenv("BERTH_AUDIT");
}

std::span<const char* const> Auditor::Rules() {
  return kRules;
}

std::string Auditor::Observe(const AuditInput& input) {
  if (runs_.empty()) {
    runs_.resize(U(input.scenario.num_jobs()));
    busy_.resize(U(input.scenario.num_types()));
  }
  Watch(input);
  std::string violation = Elapse(input);
  if (violation.empty()) violation = Compare(input);
  Record(input);
  std::erase_if(pending_, [this](int job) { return runs_[U(job)].phase != JobPhase::kFuture; });
  return violation;
}

void Auditor::Told(const SimState& s, int job) {
  if (runs_.empty()) return;
  Run& run = runs_[U(job)];
  run.steps = Work(s, job);
  run.resumes = std::max(run.resumes, s.now);
}

void Auditor::Watch(const AuditInput& in) {
  const auto& arrival = in.scenario.data().jobs.arrival;
  while (next_arrival_ < in.scenario.num_jobs() && arrival[U(next_arrival_)] <= in.state.now)
    pending_.push_back(next_arrival_++);
  whole_ = WholeNext(in.within_round, in.last);
  since_whole_ = whole_ ? 0 : since_whole_ + 1;
  if (whole_) {
    watched_.resize(runs_.size());
    std::iota(watched_.begin(), watched_.end(), 0);
    return;
  }
  ++observation_;
  watched_.clear();
  const auto watch = [this](int job) {
    if (job < 0 || std::exchange(runs_[U(job)].met, observation_) == observation_) return;
    watched_.push_back(job);
  };
  for (int job : pending_) watch(job);
  // Rounds of the reference are counted one by one; those who hold parts of a GPU are busy in common.
  if (in.scenario.data().clock.kind == ClockKind::kReferenceRounds || in_parts_ > 0) {
    for (int job : in.state.running) watch(job);
  }
  for (int job : std::span(in.state.changed).subspan(in.seen)) {
    watch(job);
    watch(runs_[U(job)].partner);  // whose shared time the two have in common, before and from now on
    watch(in.state.partner[U(job)]);
  }
}

// From when a job was last looked at to now: what ran then ran until now, or until it stopped in between.
std::string Auditor::Elapse(const AuditInput& in) {
  const SimState& s = in.state;
  const JobTable& jobs = in.scenario.data().jobs;
  if (s.now < time_) return Join(kTime, ": it is ", s.now, " s after ", time_);
  const Clock& clock = in.scenario.data().clock;
  if (clock.kind == ClockKind::kRounds && !in.within_round &&
      s.now != std::round(s.now / clock.round_s) * clock.round_s) {
    return Join(kClock, ": ", s.now, " s is no multiple of the round");
  }
  const bool reference = clock.kind == ClockKind::kReferenceRounds;
  std::map<int, double> ends;  // of GPUs held in parts: when the last job so far ended
  for (int job : watched_) {
    Run& run = runs_[U(job)];
    const JobPhase phase = s.phase[U(job)];
    run.changed = run.type >= 0 || phase != run.phase;
    if (!MayFollow(run.phase, phase) || (Gone(run.phase) && s.completion[U(job)] != run.completion)) {
      return Join(kPhases, ": job ", job, " was gone and is not as it was, or was here and is still to come");
    }
    const double done = s.completion[U(job)];
    if (phase == JobPhase::kDone && run.phase != JobPhase::kDone && (done < run.since || done > s.now)) {
      return Join(kTime, ": job ", job, " completed at ", done, " between ", run.since, " and ", s.now);
    }
    const bool blocked = !s.blocked.empty() && s.blocked[U(job)] != 0;
    // Who is turned away at the door, within a round, was never here.
    const bool never =
        run.phase == JobPhase::kFuture && phase == JobPhase::kRejected && jobs.arrival[U(job)] > run.since;
    if ((phase != JobPhase::kFuture || blocked) && !Gone(run.phase) && !never) {
      const double since = std::max(run.since, jobs.arrival[U(job)]);
      const double until = phase == JobPhase::kDone ? done : s.now;
      job_seconds_ += std::max(0.0, until - since);
    }
    if (run.type < 0) continue;
    const double end = EndOfRun(in, job);
    const double rate = !in.scenario.plain() ? run.rate
                        : run.partner < 0    ? in.scenario.Rate(job, run.type)
                                             : in.scenario.PairRate(job, run.partner, run.type);
    const double steps = rate * std::max(0.0, end - std::max(run.since, run.resumes));
    if (reference) {
      const bool part = phase != JobPhase::kDone && !Same(steps, std::round(steps), s.now);
      if (part || end - run.since > clock.round_s * (1.0 + 1e-9)) {
        return Join(kClock, ": job ", job, " made ", steps, " steps within ", end - run.since,
                    " s of a round");
      }
    }
    run.steps += steps;
    run.held_s += end - run.since;
    busy_[U(run.type)] += run.width * (end - run.since);
    if (run.partner > job) {  // a GPU that two hold is busy once; one may have ended earlier in the round
      busy_[U(run.type)] -= std::max(0.0, std::min(end, EndOfRun(in, run.partner)) - run.since);
    }
    if (run.partner <= kPartOf) {  // so is one that more hold: until the last of them ends
      double& longest = ends.try_emplace(run.partner, run.since).first->second;
      busy_[U(run.type)] -= std::min(end, longest) - run.since;
      longest = std::max(longest, end);
    }
  }
  return "";
}

// When what ran at the last observation stopped, now at the latest.
double Auditor::EndOfRun(const AuditInput& in, int job) const {
  const SimState& s = in.state;
  if (in.scenario.data().clock.kind == ClockKind::kReferenceRounds && s.now > time_) {
    for (const Segment& segment : s.segments) {  // GPUs idle from a job's last whole step to the round's end
      if (segment.job == job) return segment.finish;
    }
  }
  return s.phase[U(job)] == JobPhase::kDone ? s.completion[U(job)] : s.now;
}

std::string Auditor::Compare(const AuditInput& in) const {
  const SimState& s = in.state;
  for (int job : watched_) {
    const Run& run = runs_[U(job)];
    if (!run.changed && !whole_) continue;
    const double steps = Work(s, job);
    if (!Same(steps, run.steps, in.scenario.BestRate(job) * s.now)) {
      return Join(kWork, ": job ", job, " has done ", steps, " steps, its runs give ", run.steps);
    }
    const double held = s.AttainedSeconds(job);
    if (!Same(held, run.held_s, s.now)) {
      return Join(kHeldSeconds, ": job ", job, " held GPUs for ", held, " s, its runs give ", run.held_s);
    }
  }
  if (!whole_) return "";
  for (std::size_t type = 0; type < busy_.size(); ++type) {
    if (!Same(in.busy_seconds[type], busy_[type], s.now * in.scenario.num_gpus())) {
      return Join(kBusy, ": type ", type, " was busy ", in.busy_seconds[type], " GPU-seconds, the runs give ",
                  busy_[type]);
    }
  }
  if (!Same(in.job_seconds, job_seconds_, s.now)) {
    return Join(kJobSeconds, ": ", in.job_seconds, " counted, the jobs give ", job_seconds_);
  }
  return "";
}

// Who runs where from here on. A start costs nothing the first time, afterwards the checkpoint of the stop
// before it and the restore, on another type the migration too; a move costs all three (env/sim/scenario.hpp:
// Costs).
void Auditor::Record(const AuditInput& in) {
  const SimState& s = in.state;
  const Costs& costs = in.scenario.data().costs;
  for (int job : watched_) {
    Run& run = runs_[U(job)];
    run.since = s.now;
    run.phase = s.phase[U(job)];
    run.completion = s.completion[U(job)];
    const int type = run.phase == JobPhase::kRunning ? s.on_type[U(job)] : -1;
    const bool moved = run.type >= 0 && type >= 0 && s.preemptions[U(job)] != run.preemptions;
    // Without features the scenario says how many GPUs a job holds, not the state that is checked.
    run.width = type < 0 ? 0 : in.scenario.plain() ? in.scenario.data().jobs.gang[U(job)] : s.Width(job);
    run.rate = s.rate[U(job)];
    if (!in.scenario.plain()) {
      run.resumes = s.progress_from[U(job)];  // what a start costs is the features' own
    } else if (type >= 0 && (run.type < 0 || moved)) {
      double cost = 0.0;
      if (run.last_type >= 0) {
        const bool migrates = moved || run.last_type != type;
        cost = costs.checkpoint_s + costs.restore_s + (migrates ? costs.migration_s : 0.0);
      }
      run.resumes = s.now + cost;
      run.last_type = type;
    }
    run.type = type;
    in_parts_ -= run.partner <= kPartOf;
    run.partner = type < 0 ? -1 : s.partner[U(job)];
    if (type >= 0 && in.scenario.HoldsPart(job)) run.partner = kPartOf - s.Devices(job).front();
    in_parts_ += run.partner <= kPartOf;
    run.preemptions = s.preemptions[U(job)];
  }
  time_ = s.now;
}

}  // namespace berth
