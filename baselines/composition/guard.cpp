// A scheduler that is trusted while it does no worse than a plain one would: for what was learned, on
// workloads that it was not trained on. It runs `policy`. When an epoch is over, what happened in it is
// replayed (replay.hpp) from the state in which it began, once under `policy` until now and `fallback` after,
// once under `fallback` throughout, both without further arrivals until all is done. The difference in
// job-seconds is what having had `policy` for an epoch costs, what it leaves behind included; by the
// performance difference lemma (Kakade & Langford 2002, lemma 6.1) such differences add up to how much worse
// it is than the fallback. In units of the job-seconds that the fallback spends in the epoch, with `margin`
// allowed, they are summed from the last time that the sum was 0 (CUSUM, Page 1954), and at `patience` the
// fallback takes over.
//
// It hands back by the same rule with the sides exchanged, so that a policy that fails at one load is used at
// another. Each time that takes twice the evidence of the time before, so that a policy that disappoints
// again and again is asked ever less.
//
// It also hands over at once where nothing would run though jobs wait and the fallback would start one (but
// for clock reference_rounds, where schedulers wait for a reset and are asked again).
//
// An epoch is `epoch` arrivals and completions, or half as many as there are jobs at its beginning, if more:
// replays then cost a constant number of decisions for one of the real ones. What is compared is known by
// now: nothing of the future, and no more of run times than is granted. Where the replay cannot show the
// cluster (Replay::Shows) the idle cluster is all that hands over.
#include <algorithm>
#include <cmath>

#include "baselines/composition/inner.hpp"
#include "baselines/composition/replay.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kGuardParams[] = {
    {"policy", "tuned", "what runs while it is worth it, as in policy(file=policy.h5)"},
    {"fallback", "srpt", "what takes over, and what the policy is compared with"},
    {"epoch", "64", "arrivals and completions between comparisons, from 1"},
    {"margin", "0.1", "share of an epoch's job-seconds that the policy may lose and be kept, from 0"},
    {"patience", "0.5", "epochs' worth of job-seconds lost beyond that until it is replaced, from 0"},
};

class Guard final : public Scheduler {
 public:
  struct Rule {
    int epoch;
    double margin, patience;
  };
  struct Pair {
    Inner policy, fallback;
    Knowledge knowledge() const { return std::max(policy.knowledge(), fallback.knowledge()); }
  };

  Guard(const Rule& rule, Pair real, Pair replayed)
      : rule_(rule), real_(std::move(real)), replayed_(std::move(replayed)) {}
  Knowledge knowledge() const override { return std::max(Knowledge::kBlind, real_.knowledge()); }
  bool resizes() const override { return real_.policy.resizes() || real_.fallback.resizes(); }

  void Reset(const ClusterView& view) override {
    real_.policy.Reset(view);
    real_.fallback.Reset(view);
    shows_ = Replay::Shows(view);
    replay_.Reset();
    begun_ = fallen_ = false;
    evidence_ = 0.0;
    to_return_ = 2.0 * rule_.patience;
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    if (shows_ && begun_) replay_.Follow(view);
    if (shows_ && (!begun_ || replay_.events() >= length_)) {
      if (begun_) Compare(view);
      replay_.Begin(view);
      length_ = std::max(rule_.epoch, view.num_active() / 2);
      begun_ = true;
    }
    if (fallen_) return real_.fallback.DecideAll(view, decision);
    own_.Clear();
    real_.policy.DecideAll(view, own_);
    if (!Idle(view, own_)) return Append(own_, decision);
    real_.fallback.Reset(view);
    instead_.Clear();
    real_.fallback.DecideAll(view, instead_);
    if (Idle(view, instead_)) return Append(own_, decision);
    Append(instead_, decision);
    fallen_ = true;
    evidence_ = 0.0;
  }

 private:
  // Would nothing run after it though jobs wait, and nobody is to be asked again?
  static bool Idle(const ClusterView& view, const Decision& decision) {
    if (view.num_active() == 0 || decision.wake_at != kNever) return false;
    if (view.clock().kind == ClockKind::kReferenceRounds) return false;  // which asks again
    auto running = static_cast<std::ptrdiff_t>(view.running().size());
    for (const Command& command : decision.commands) {
      if (command.kind == CommandKind::kStart || command.kind == CommandKind::kPack ||
          command.kind == CommandKind::kReject)
        return false;
      running -= command.kind == CommandKind::kStop;
    }
    return running == 0;
  }

  void Compare(const ClusterView& view) {
    if (!replay_.Close(view)) return;
    const auto with_policy = replay_.Run(replayed_.policy, replayed_.fallback);
    const auto without = replay_.Run(replayed_.fallback, replayed_.fallback);
    if (!with_policy || !without || without->so_far <= 0.0) return;
    const double lost = (with_policy->job_seconds - without->job_seconds) / without->so_far;
    evidence_ = std::max(0.0, evidence_ + (fallen_ ? -lost : lost) - rule_.margin);
    if (evidence_ <= (fallen_ ? to_return_ : rule_.patience)) return;
    if (fallen_) to_return_ *= 2.0;
    fallen_ = !fallen_;
    evidence_ = 0.0;
    (fallen_ ? real_.fallback : real_.policy).Reset(view);
  }

  Rule rule_;
  Pair real_, replayed_;
  Replay replay_;
  Decision own_, instead_;
  bool shows_ = true, begun_ = false, fallen_ = false;
  int length_ = 0;          // events of this epoch
  double evidence_ = 0.0;   // epochs' worth of job-seconds for a change
  double to_return_ = 0.0;  // more than which makes the next change back
};

Guard::Pair PairOf(const std::string& policy, const std::string& fallback) {
  return {Inner("guard: parameter 'policy'", policy), Inner("guard: parameter 'fallback'", fallback)};
}

}  // namespace

SchedulerInfo GuardInfo() {
  return {"guard",
          "a policy, while it does no worse than a plain scheduler would; a small multiple of both's cost",
          "the Simplex architecture: Sha, IEEE Software 18(4), 2001; evidence summed as by Page, Biometrika "
          "41, 1954",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kGuardParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const std::string policy = params.Text("policy"), fallback = params.Text("fallback");
            const Guard::Rule rule{static_cast<int>(params.Integer("epoch", 1, 1'000'000'000)),
                                   params.Number("margin", 0.0, 1e9), params.Number("patience", 0.0, 1e9)};
            return std::make_unique<Guard>(rule, PairOf(policy, fallback), PairOf(policy, fallback));
          }};
}

}  // namespace berth
