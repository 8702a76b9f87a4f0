// Decides for the moment at which its decision takes effect (env/features/latency/latency.hpp), not for the
// one at which it looks: a running job that will have ended by then is left out and its GPUs are taken as
// idle; all else an inner scheduler decides. Planning for the state that a model predicts at the end of the
// delay is Smith's predictor in control and model-based simulation in decision processes with delay.
//
// A start on GPUs that are still held is legal in a decision that also stops their holder. When it takes
// effect the holder has ended, so the stop is dropped as overtaken (and counted), and the start stands. Where
// the prediction was wrong the holder is stopped in earnest: jobs are expected to go on at the slower of
// their rate in the table and what they made since the last look, and `margin` before the decision takes
// effect they must have ended. Where jobs wait it asks to decide in time for the next to end.
//
// Without latency it is the inner scheduler.
#include <algorithm>
#include <cmath>
#include <vector>

#include "baselines/composition/inner.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/latency/latency.hpp"

namespace berth {
namespace {

constexpr ParamInfo kAnticipateParams[] = {
    {"inner", "srpt", "the scheduler that decides on what is predicted"},
    {"margin", "1", "s by which a job must be expected to end before a decision takes effect, from 0"},
};

class Anticipate final : public Scheduler {
 public:
  Anticipate(double margin, Inner inner) : margin_(margin), inner_(std::move(inner)) {}
  Knowledge knowledge() const override { return std::max(Knowledge::kEstimate, inner_.knowledge()); }
  bool resizes() const override { return inner_.resizes(); }
  void Reset(const ClusterView& view) override {
    inner_.Reset(view);
    seen_.assign(U(view.num_jobs()), {});
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    const auto* latency = view.features().Find<LatencySettings>();
    if (!latency || latency->seconds <= 0.0) return inner_.DecideAll(view, decision);
    const double effect = EffectOf(view, latency->seconds);
    Predict(view, effect);
    inner_.Begin(view);
    room_.assign(view.free_gpus().begin(), view.free_gpus().end());
    for (const auto& [end, job] : leaving_) room_[U(view.TypeOf(job))] += FreedBy(view, job);
    for (int type = 0; type < view.num_types(); ++type)
      inner_.Limit(type, view.types()[U(type)].count, room_[U(type)]);
    for (int job : view.active()) {
      if (!std::binary_search(hidden_.begin(), hidden_.end(), job)) inner_.Show(view, job);
    }
    inner_.Decide(view, decision);
    StopLeaving(view, decision);
    AskInTime(view, latency->seconds, effect, decision);
  }

 private:
  struct Look {
    double at = -1.0, remaining = 0.0, run_start = -1.0;
  };

  // When a decision of now takes effect.
  static double EffectOf(const ClusterView& view, double seconds) {
    const double effect = view.now() + seconds, round = view.clock().round_s;
    if (view.clock().kind != ClockKind::kRounds) return effect;
    double boundary = std::ceil(effect / round) * round;
    while (boundary < effect) boundary += round;
    return boundary;
  }

  // At most what its start may still have to be paid for.
  static double StillPaying(const ClusterView& view, int job) {
    const bool first = view.Preemptions(job) + view.Interruptions(job) == 0;
    const double cost = StartSeconds(view, job, first ? -1 : view.TypeOf(job), /*type=*/-1);
    return std::max(0.0, view.RunStart(job) + cost - view.now());
  }

  double EndOf(const ClusterView& view, int job) {
    const double left = view.RemainingSteps(job), now = view.now();
    double rate = view.RateAt(job, view.TypeOf(job), view.Width(job));
    Look& last = seen_[U(job)];
    if (last.run_start == view.RunStart(job) && now > last.at)
      rate = std::min(rate, (last.remaining - left) / (now - last.at));
    last = {now, left, view.RunStart(job)};
    return rate > 0.0 ? now + StillPaying(view, job) + left / rate : kNever;
  }

  // Who will have ended by then, soonest first, and when the next will. Who shares a GPU is left alone: it
  // frees nothing for others to start on.
  void Predict(const ClusterView& view, double effect) {
    leaving_.clear(), hidden_.clear();
    next_end_ = kNever;
    for (int job : view.running()) {
      const double end = EndOf(view, job);
      const bool alone = view.Partner(job) < 0 && view.GpuMilli(job) == 1000;
      if (alone && end <= effect - margin_) {
        leaving_.push_back({end, job});
        hidden_.push_back(job);
      } else if (alone) {
        next_end_ = std::min(next_end_, end);
      }
    }
    std::sort(leaving_.begin(), leaving_.end());
  }

  // Stops as many of those who leave as the starts need room for.
  void StopLeaving(const ClusterView& view, Decision& decision) {
    room_.assign(view.free_gpus().begin(), view.free_gpus().end());
    for (const Command& c : decision.commands) {
      if (view.IsRunning(c.job) && c.kind != CommandKind::kReject)
        room_[U(view.TypeOf(c.job))] += FreedBy(view, c.job);
      if (c.kind == CommandKind::kStart || c.kind == CommandKind::kMove) room_[U(c.type)] -= WidthOf(view, c);
    }
    for (const auto& [end, job] : leaving_) {
      int& room = room_[U(view.TypeOf(job))];
      const int freed = FreedBy(view, job);
      if (room >= 0 || freed == 0) continue;
      room += freed;
      decision.Stop(job);
    }
  }

  // Early enough that the next decision takes effect when the next job ends, if anybody waits for that.
  void AskInTime(const ClusterView& view, double seconds, double effect, Decision& decision) {
    std::size_t starts = 0;
    for (const Command& c : decision.commands) {
      if (c.kind != CommandKind::kStart) continue;
      ++starts;
      const double rate = view.RateAt(c.job, c.type, WidthOf(view, c));
      if (rate > 0.0)
        next_end_ = std::min(next_end_,
                             effect + ChangeSeconds(view, c.job, c.type) + view.RemainingSteps(c.job) / rate);
    }
    if (static_cast<std::size_t>(view.num_waiting()) <= starts) return;
    const double in_time = next_end_ + margin_ - seconds;
    if (in_time > view.now()) decision.wake_at = std::min(decision.wake_at, in_time);
  }

  double margin_;
  Inner inner_;
  std::vector<Look> seen_;                       // [J] the last
  std::vector<std::pair<double, int>> leaving_;  // (end s, job)
  std::vector<int> hidden_;                      // the same, ascending
  std::vector<int> room_;                        // [G]
  double next_end_ = kNever;                     // s, of who does not leave
};

}  // namespace

SchedulerInfo AnticipateInfo() {
  return {"anticipate",
          "any scheduler, on the state predicted for when its decision takes effect; O(n log n) + inner's",
          "Smith's predictor: Smith, Chem. Eng. Progress 53, 1957; decision processes with delay: Walsh, "
          "Nouri, Li & Littman, JAAMAS 18, 2009, section 4",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kAnticipateParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            Inner inner("anticipate: parameter 'inner'", params.Text("inner"));
            return std::make_unique<Anticipate>(params.Number("margin", 0.0, 1e9), std::move(inner));
          }};
}

}  // namespace berth
