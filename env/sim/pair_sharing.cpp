// Two jobs on one GPU: how a pair forms, parts and is accounted (the rules stand in simulator.hpp).
#include <algorithm>

#include "env/base/index.hpp"
#include "env/sim/core.hpp"

namespace berth {
// After everything else of the decision: hosts are where they will be.
void SimCore::ApplyPacks(const Decision& decision) {
  SimState& s = state_;
  for (const Command& c : decision.commands) {
    if (c.kind != CommandKind::kPack) continue;
    // A host may have been left unplaced.
    if (s.phase[U(c.host)] != JobPhase::kRunning || !MayTake(c.job, s.Devices(c.host).front())) {
      LeaveUnplaced(c);
      continue;
    }
    const int type = s.on_type[U(c.host)];
    const int device = s.Devices(c.host).front();
    const bool waits = s.phase[U(c.job)] == JobPhase::kWaiting;
    TakeSlot(c.job).assign(1, device);
    for (FeatureState& feature : s.features.Of(Hook::kOnPlaced))
      feature.OnPlaced(*this, c.job, /*beside=*/true);
    s.on_type[U(c.job)] = static_cast<std::int8_t>(type);
    StartRun(c.job, type, waits ? Overhead(c.job, type) : MoveCost());
    if (waits) s.waiting.Erase(c.job);
    s.running.Insert(c.job);
    Share(c.job, c.host);
    Log(s.now, EventKind::kPack, type, c.job, device);
  }
}

void SimCore::Share(int job, int host) {
  SimState& s = state_;
  s.partner[U(job)] = host;
  s.partner[U(host)] = job;
  s.shared_from[U(job)] = s.shared_from[U(host)] = s.now;
  SetRate(job, RunRate(job));
  SetRate(host, RunRate(host));
}

void SimCore::Part(int job) {
  SimState& s = state_;
  const int partner = s.partner[U(job)];
  EndSharing(job, s.now);
  s.partner[U(job)] = s.partner[U(partner)] = -1;
  if (s.phase[U(partner)] == JobPhase::kRunning) SetRate(partner, RunRate(partner));
}

void SimCore::EndSharing(int job, double time) {
  SimState& s = state_;
  const int partner = s.partner[U(job)];
  if (time > s.shared_from[U(job)]) {
    const double seconds = time - s.shared_from[U(job)];
    s.shared_seconds[U(job)] += seconds;
    s.shared_seconds[U(partner)] += seconds;
    shared_seconds_[U(s.on_type[U(job)])] += seconds;
  }
  s.shared_from[U(job)] = s.shared_from[U(partner)] = kNever;
}

// Each of a pair has its own finish in a round; they share the GPU up to the earlier one. The segments are
// still in the order of `running`.
void SimCore::EndSharedRound(double end) {
  SimState& s = state_;
  for (const Segment& segment : s.segments) {
    const int partner = s.partner[U(segment.job)];
    if (partner <= segment.job) continue;  // none, or seen from the other side
    const auto its = std::lower_bound(s.segments.begin(), s.segments.end(), partner,
                                      [](const Segment& a, int job) { return a.job < job; });
    EndSharing(segment.job, std::min(segment.finish, its->finish));
    s.shared_from[U(segment.job)] = s.shared_from[U(partner)] = end;
  }
}

void SimCore::SetRate(int job, double rate) {
  SimState& s = state_;
  Changed(job);
  const double finish = FinishTime(job);
  if (s.now > s.progress_from[U(job)]) {
    s.steps_done[U(job)] = s.AttainedSteps(job);
    s.progress_from[U(job)] = s.now;
  }
  s.rate[U(job)] = rate;
  for (FeatureState& feature : s.features.Of(Hook::kOnRate)) feature.OnRate(*this, job);
  // Where it ends at this very instant what is queued stands, but not past the end of a round.
  if (finish <= s.now && scenario_.data().clock.kind != ClockKind::kRounds) return;
  ++version_[U(job)];
  QueueFinish(job);
}

void SimCore::SetProgress(int job, double steps) {
  SimState& s = state_;
  s.steps_done[U(job)] = steps;
  s.progress_from[U(job)] = std::max(s.now, s.progress_from[U(job)]);
  if (auditor_) auditor_->Told(s, job);
  ++version_[U(job)];
  QueueFinish(job);
}

void SimCore::RerateOn(int device, int but) {
  for (int job : state_.HoldersOf(device)) {
    if (job == but || state_.phase[U(job)] != JobPhase::kRunning) continue;
    Rerate(job);
    for (FeatureState& feature : state_.features.Of(Hook::kOnRate)) feature.OnRate(*this, job);
  }
}

}  // namespace berth
