// How each clock runs to its next decision point.
#include <algorithm>
#include <cmath>

#include "env/base/index.hpp"
#include "env/sim/core.hpp"

namespace berth {
namespace {

constexpr std::uint8_t kFailuresToDrop = 5;

// Latest finish first, then by job: the heap of Gavel's Scheduler.simulate (scheduler.py).
bool LaterFinish(const Segment& a, const Segment& b) {
  return a.finish != b.finish ? a.finish > b.finish : a.job < b.job;
}

// kRounds: up to where completions are queued, seen from the boundary `round`: jobs that start and stop in
// every round mostly end long after. Whoever still runs then is looked at again.
double Horizon(std::int64_t round, double length) {
  constexpr std::int64_t kRounds = 16;
  return static_cast<double>((round / kRounds + 1) * kRounds) * length;
}

}  // namespace

void SimCore::QueueFinish(int job) {
  const Clock& clock = scenario_.data().clock;
  const bool rounds = clock.kind == ClockKind::kRounds;
  if (clock.kind == ClockKind::kReferenceRounds || (rounds && in_parts_)) return;
  const double finish = FinishTime(job);
  if (rounds && finish > Horizon(round_, clock.round_s)) return;
  if (!(finish < kNever)) return;  // its rate is 0
  queue_.Push({finish, rank_[U(job)], job, version_[U(job)]});
  if (queue_.size() > 64 + 4 * U(state_.running.size()))  // most are runs that are over
    queue_.KeepOnly([this](const Completion& event) { return event.version == version_[U(event.job)]; });
}

void SimState::ListSegments() const {
  const std::span<const int> jobs = running;
  const auto runs_on = [this](int job) { return phase[U(job)] == JobPhase::kRunning; };
  std::size_t ended = segments.size();
  std::size_t to = ended + static_cast<std::size_t>(std::count_if(jobs.begin(), jobs.end(), runs_on));
  segments.resize(to);
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {  // merged from the back, in place
    if (!runs_on(*job)) continue;
    const Segment segment{*job, on_type[U(*job)], unlisted_s, now, false};
    while (ended > 0 && LaterFinish(segment, segments[ended - 1])) segments[--to] = segments[--ended];
    segments[--to] = segment;
  }
  unlisted_s = 0.0;
}

bool SimCore::AdvanceToDecision() {
  Reported();
  state_.arrived.clear();
  state_.completed.clear();
  state_.segments.clear();
  state_.unlisted_s = 0.0;
  if (window_left_ == 0) finished_ = true;
  if (finished_ || stalled_) return false;
  bool decide = false;
  for (FeatureState& feature : state_.features.Of(Hook::kBeforeAdvance)) feature.BeforeAdvance(*this);
  do {
    switch (scenario_.data().clock.kind) {
      case ClockKind::kEvent:
        decide = AdvanceEvents(/*one_at_a_time=*/false);
        break;
      case ClockKind::kHpc:
        decide = AdvanceEvents(/*one_at_a_time=*/true);
        break;
      case ClockKind::kRounds:
        decide = AdvanceRounds();
        break;
      case ClockKind::kReferenceRounds:
        decide = AdvanceReferenceRounds();
        break;
    }
    Audit();
  } while (decide && !Due());
  for (FeatureState& feature : state_.features.Of(Hook::kAfterAdvance)) feature.AfterAdvance(*this);
  reported_ = true;
  if (window_left_ == 0) {
    finished_ = true;
    return false;
  }
  return decide;
}

bool SimCore::Due() {
  for (FeatureState& feature : state_.features.Of(Hook::kDue)) {
    if (!feature.Due(*this)) return false;
  }
  return true;
}

bool SimCore::NothingFollows() {
  (state_.active.empty() ? finished_ : stalled_) = true;
  return false;
}

bool SimCore::AdvanceEvents(bool one_at_a_time) {
  SimState& s = state_;
  for (bool decide = false; !decide;) {
    while (!queue_.empty() && queue_.top().version != version_[U(queue_.top().job)]) queue_.Pop();
    const double completion = queue_.empty() ? kNever : queue_.top().time;
    const double arrival = NextArrival();
    const double next = std::min({completion, arrival, wake_at_, NextDeed()});
    if (next == kNever) return NothingFollows();
    if (const double watch = NextTimer(); watch < next) {
      s.now = std::max(s.now, watch);
      FireTimers();
      continue;
    }
    if (TimersAlone(next)) return NothingFollows();
    s.now = std::max(s.now, next);
    decide = std::min({completion, arrival, wake_at_}) <= s.now;
    if (one_at_a_time) {  // arrivals first on ties; nothing when it is only a wake-up
      if (arrival <= next) {
        Arrive(next_arrival_++, s.now);
      } else if (completion <= next) {
        const int job = queue_.top().job;
        queue_.Pop();
        Complete(job, s.now, /*release_devices=*/true);
      }
      break;
    }
    while (!queue_.empty() && queue_.top().time <= s.now) {
      const Completion event = queue_.top();
      queue_.Pop();
      if (event.version == version_[U(event.job)]) Complete(event.job, s.now, /*release_devices=*/true);
    }
    while (NextArrival() <= s.now) Arrive(next_arrival_++, s.now);
    if (NextTimer() <= s.now) decide = FireTimers() || decide;
    Settle();
    if (!decide) Audit(/*within_round=*/true);  // rates may be others from here on
  }
  wake_at_ = kNever;
  return true;
}

void SimCore::ArriveUntil(double time) {
  while (NextArrival() <= time) {
    const double at = NextArrival();
    Arrive(next_arrival_++, at);
  }
}

// What a round brought, in order of time: completions first on ties, then by job. Devices wait for the
// boundary.
void SimCore::EndRound(double boundary) {
  std::vector<Segment>& done = round_scratch_;
  done.clear();
  for (const Segment& segment : state_.segments) {
    if (segment.completed) done.push_back(segment);
  }
  std::sort(done.begin(), done.end(), [](const Segment& a, const Segment& b) {
    return a.finish != b.finish ? a.finish < b.finish : a.job < b.job;
  });
  for (const Segment& segment : done) {
    while (NextArrival() < segment.finish) {
      const double at = NextArrival();
      Arrive(next_arrival_++, at);
    }
    Complete(segment.job, segment.finish, /*release_devices=*/false);
  }
  ArriveUntil(boundary);
}

// kReferenceRounds: the reference gives up on a job whose round allows no whole step five times running.
void SimCore::Drop(int job) {
  const int type = state_.on_type[U(job)];
  Release(job);
  Leave(job, state_.now, JobPhase::kRejected);
  Log(state_.now, EventKind::kReject, type, job, -1);
}

// Numbers of rounds are whole as doubles up to here; what is to come behind it never comes.
constexpr double kMostRounds = 9e15;

bool SimCore::AdvanceRounds() {
  SimState& s = state_;
  const double length = scenario_.data().clock.round_s;
  if (!s.running.empty()) {
    const double until = Horizon(round_++, length);
    if (Horizon(round_, length) > until) {
      for (int job : s.running)
        if (FinishTime(job) > until) QueueFinish(job);
    }
  } else {  // skip to the first boundary that brings something
    const double timer = s.active.empty() ? kNever : NextDeed();
    const double next = std::min({NextArrival(), wake_at_, timer});
    if (next > kMostRounds * length || TimersAlone(next)) return NothingFollows();
    round_ = std::max(round_ + 1, static_cast<std::int64_t>(std::ceil(next / length)));
    while (static_cast<double>(round_) * length < next) ++round_;  // the quotient may round down
  }
  wake_at_ = kNever;
  const double begin = s.now;
  const double boundary = static_cast<double>(round_) * length;
  if (NextTimer() <= boundary || in_parts_) {
    RunRoundInParts(boundary);
    return true;
  }

  for (; !queue_.empty() && queue_.top().time <= boundary; queue_.Pop()) {
    const auto& [finish, rank, job, version] = queue_.top();
    if (version == version_[U(job)])
      s.segments.push_back({job, s.on_type[U(job)], finish - begin, finish, true});
  }
  std::sort(s.segments.begin(), s.segments.end(), LaterFinish);
  s.unlisted_s = boundary - begin;
  EndRound(boundary);
  s.now = boundary;
  if (!scenario_.plain()) s.Segments();  // features change them
  for (int job : s.completed) Release(job);
  return true;
}

// The same where the cluster itself changes within the round: from one change to the next.
void SimCore::RunRoundInParts(double boundary) {
  SimState& s = state_;
  for (int job : s.running) s.segments.push_back({job, s.on_type[U(job)], s.now, kNever, false});
  const auto end_segment = [&s](Segment& segment, double finish, bool completed) {
    segment.seconds = finish - segment.seconds;
    segment.finish = finish;
    segment.completed = completed;
  };
  for (bool over = false; !over;) {
    double until = boundary;
    for (;;) {  // one at a time: what ends may change how fast others go, and set timers
      until = std::min(boundary, NextTimer());
      Segment* first = nullptr;
      double earliest = kNever;
      for (Segment& segment : s.segments) {
        if (segment.finish != kNever) continue;
        const double finish = FinishTime(segment.job);
        if (finish <= until && finish < earliest) earliest = finish, first = &segment;
      }
      if (first == nullptr) break;
      while (NextArrival() < earliest) Arrive(next_arrival_, NextArrival()), ++next_arrival_;
      end_segment(*first, earliest, true);
      s.now = std::max(s.now, earliest);
      Complete(first->job, earliest, /*release_devices=*/false);
      Settle();
      Audit(/*within_round=*/true);
    }
    ArriveUntil(until);
    s.now = std::max(s.now, until);
    over = NextTimer() > boundary;
    if (over) break;
    FireTimers();
    Settle();
    for (Segment& segment : s.segments) {
      const bool gone = s.phase[U(segment.job)] != JobPhase::kRunning;
      if (gone && segment.finish == kNever) end_segment(segment, s.now, false);
    }
    Audit(/*within_round=*/true);
  }
  for (Segment& segment : s.segments) {
    if (segment.finish == kNever) end_segment(segment, boundary, false);
  }
  std::sort(s.segments.begin(), s.segments.end(), LaterFinish);
  for (int job : s.completed) Release(job);
  Settle();  // who stays on a shared GPU may be given more of it
}

// The main loop of Gavel's Scheduler.simulate (scheduler.py), exactly; but where that crashes, since nothing
// runs and no arrival is left, there is one more decision.
bool SimCore::AdvanceReferenceRounds() {
  SimState& s = state_;
  const double length = scenario_.data().clock.round_s;
  if (s.running.empty()) {
    if (ArrivalsRemain()) {
      s.now = std::max(s.now, NextArrival());
      idle_retry_ = false;
    } else if (s.active.empty() || idle_retry_) {
      return NothingFollows();
    } else {
      idle_retry_ = true;  // the policy may place the waiting jobs once it sees that nothing else will come
    }
  } else {
    idle_retry_ = false;
    if (this_round_end_ >= 0.0) last_round_end_ = this_round_end_;
    const double begin = s.now;
    double latest = begin;
    for (int job : s.running) {
      const double rate = s.rate[U(job)];
      const double held = std::max(s.progress_from[U(job)] - begin, 0.0);  // by what its start costs
      const double left = scenario_.data().jobs.total_steps[U(job)] - s.steps_done[U(job)];
      const double steps = held < length ? std::min(std::floor(rate * (length - held)), left) : 0.0;
      const double finish = held < length ? begin + held + steps / rate : begin + length;
      s.steps_done[U(job)] += steps;
      const bool done = s.steps_done[U(job)] >= scenario_.data().jobs.total_steps[U(job)];
      s.segments.push_back({job, s.on_type[U(job)], finish - last_round_end_, finish, done});
      latest = std::max(latest, finish);
      if (steps > 0.0) {
        failures_[U(job)] = 0;
      } else if (held == 0.0) {
        ++failures_[U(job)];
      }
    }
    EndSharedRound(latest);
    std::sort(s.segments.begin(), s.segments.end(), LaterFinish);
    EndRound(latest);
    s.now = this_round_end_ = latest;
    for (const Segment& segment : s.segments) {
      if (segment.completed) continue;
      EndRun(segment.job, segment.finish);  // GPUs idle from its finish to the round's end
      s.busy_from[U(segment.job)] = s.now;
      s.progress_from[U(segment.job)] = std::max(s.progress_from[U(segment.job)], s.now);
    }
    for (const Segment& segment : s.segments) {  // only now: whom a job leaves beside must have its steps
      if (segment.completed) {
        Release(segment.job);
      } else if (failures_[U(segment.job)] == kFailuresToDrop) {
        Drop(segment.job);
      }
    }
  }
  ArriveUntil(s.now);
  s.arrivals_over = !ArrivalsRemain();
  return true;
}

}  // namespace berth
