// Two jobs on one GPU: how a pair forms, parts and is accounted (the rules stand in simulator.hpp).
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/power/power.hpp"
#include "env/features/topology/placement_engine.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
// After everything else of the decision: hosts are where they will be.
void Simulator::ApplyPacks(const Decision& decision) {
  SimState& s = state_;
  for (const Command& c : decision.commands) {
    if (c.kind != CommandKind::kPack) continue;
    if (s.placement && !PlacementEngine::PlacePack(*this, c)) continue;
    const int type = s.on_type[U(c.host)];
    const int device = s.Devices(c.host).front();
    const bool waits = s.phase[U(c.job)] == JobPhase::kWaiting;
    TakeSlot(c.job);
    s.device_slots[U(s.slot[U(c.job)])].assign(1, device);
    if (s.placement) PlacementEngine::TakeBeside(*this, c.job);
    s.on_type[U(c.job)] = static_cast<std::int8_t>(type);
    StartRun(c.job, type, waits ? Overhead(c.job, type) : MoveCost());
    if (waits) s.waiting.Erase(c.job);
    s.running.Insert(c.job);
    Share(c.job, c.host);
    Log(s.now, EventKind::kPack, type, c.job, device);
  }
}

void Simulator::Share(int job, int host) {
  SimState& s = state_;
  s.partner[U(job)] = host;
  s.partner[U(host)] = job;
  s.shared_from[U(job)] = s.shared_from[U(host)] = s.now;
  SetRate(job, RunRate(job));
  SetRate(host, RunRate(host));
}

void Simulator::Part(int job) {
  SimState& s = state_;
  const int partner = s.partner[U(job)];
  EndSharing(job, s.now);
  s.partner[U(job)] = s.partner[U(partner)] = -1;
  if (s.phase[U(partner)] == JobPhase::kRunning) SetRate(partner, RunRate(partner));
}

void Simulator::EndSharing(int job, double time) {
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
void Simulator::EndSharedRound(double end) {
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

void Simulator::SetRate(int job, double rate) {
  SimState& s = state_;
  Changed(job);
  const double finish = FinishTime(job);
  if (s.now > s.progress_from[U(job)]) {
    s.steps_done[U(job)] = s.AttainedSteps(job);
    s.progress_from[U(job)] = s.now;
  }
  s.rate[U(job)] = rate;
  if (s.power) PowerEngine::OnRate(*this, job);
  const ClockKind clock = scenario_.data().clock.kind;
  if (clock != ClockKind::kEvent && clock != ClockKind::kHpc) return;
  if (finish <= s.now) return;  // it ends at this very instant: what is queued stands
  ++version_[U(job)];
  queue_.Push({FinishTime(job), rank_[U(job)], job, version_[U(job)]});
}

}  // namespace berth
