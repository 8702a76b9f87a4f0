#include "baselines/queue/queue_rule.hpp"

#include <algorithm>

#include "env/check.hpp"

namespace berth {

QueueRuleOptions ReadQueueParams(Params& params) {
  QueueRuleOptions options;
  options.place = ReadTypeChoice(params);
  options.overtake = params.Bool(kOvertakeParam.name);
  options.semantics = static_cast<Semantics>(params.Choice(kSemanticsParam.name, {"redecide", "commit"}));
  options.backfill =
      static_cast<Backfill>(params.Choice(kBackfillParam.name, {"none", "easy", "conservative"}));
  if (options.overtake && (options.semantics == Semantics::kCommit || options.backfill != Backfill::kNone)) {
    throw Error("overtake=true: expected semantics=redecide and backfill=none with it");
  }
  if (options.semantics == Semantics::kCommit && options.backfill == Backfill::kConservative) {
    throw Error("semantics=commit: expected backfill=none or easy with it, found conservative");
  }
  return options;
}

std::unique_ptr<Scheduler> MakeQueueRule(Params& params, const ScoreRule& rule) {
  return std::make_unique<QueueRule>(rule, ReadQueueParams(params));
}

QueueRule::QueueRule(const ScoreRule& rule, const QueueRuleOptions& options)
    : rule_(rule),
      options_(options),
      queue_(rule),
      easy_(options.place),
      conservative_(options.reserve_by_start) {}

Knowledge QueueRule::knowledge() const {
  return options_.backfill == Backfill::kNone ? rule_.knowledge
                                              : std::max(rule_.knowledge, Knowledge::kEstimate);
}

void QueueRule::Reset(const ClusterView&) {
  queue_.Reset();
  published_.Forget();
  committed_ = -1;
}

void QueueRule::Decide(const ClusterView& view, Decision& decision) {
  queue_.Track(view);
  plan_.Begin(view, /*preemptive=*/false);
  if (options_.semantics == Semantics::kCommit) {
    Commit(view);  // chooses even where nobody has room: the choice is made now and waits
  } else if (!view.waiting().empty() && plan_.total_room() > 0) {
    Redecide(view);
  }
  if (!plan_.placed().empty()) {
    queue_.SomeStarted();
    plan_.Emit(view, decision);
  }
  if (options_.queue_limit != QueueRuleOptions::kNoLimit) TurnAway(view, decision);
}

// Once what fits has started, the latest arrivals beyond the limit are rejected: under clock `event` those
// that found the queue full.
void QueueRule::TurnAway(const ClusterView& view, Decision& decision) const {
  int waiting = 0;
  for (int job : view.waiting()) {
    if (!plan_.Placed(job) && ++waiting > options_.queue_limit) decision.Reject(job);
  }
}

void QueueRule::Redecide(const ClusterView& view) {
  const std::vector<int>& queue = queue_.Sorted(view);
  if (options_.backfill == Backfill::kConservative) return conservative_.Fill(view, queue, plan_);
  for (std::size_t next = 0; next < queue.size() && plan_.total_room() > 0; ++next) {
    const int type = ChooseType(view, plan_, queue[next], options_.place);
    if (type >= 0) {
      plan_.Put(view, queue[next], type);
    } else if (options_.backfill == Backfill::kEasy) {
      return easy_.Fill(view, std::span<const int>(queue).subspan(next), plan_);
    } else if (!options_.overtake) {
      return;
    }
  }
}

// Those that the published backfill started while the committed job waited have left the queue before the
// next choice.
void QueueRule::Commit(const ClusterView& view) {
  if (committed_ >= 0 && !view.IsWaiting(committed_)) committed_ = -1;  // somebody turned it away
  std::size_t next = 0;
  bool chosen_now = false;
  while (plan_.placed().size() < view.waiting().size()) {
    if (committed_ < 0) {
      const std::vector<int>& queue = queue_.Sorted(view);
      while (plan_.Placed(queue[next])) ++next;
      committed_ = queue[next];
      chosen_now = true;
    }
    const int type = ChooseType(view, plan_, committed_, options_.place);
    if (type < 0) {
      if (options_.backfill == Backfill::kEasy) Pass(view, chosen_now);
      return;
    }
    plan_.Put(view, committed_, type);
    published_.Forget();
    committed_ = -1;
  }
}

// The published code keeps one list: sorted by score for a choice, then, stably, by arrival for each pass. So
// jobs of one instant are tried in the order of the last choice, later ones behind them. (Lublin-2 has ten
// such pairs, and the golden figures of wfp3 and unicep with published_bug come out only so.)
void QueueRule::Pass(const ClusterView& view, bool chosen_now) {
  if (chosen_now) {
    const std::vector<int>& queue = queue_.Sorted(view);
    by_arrival_.clear(), passing_.clear();
    for (std::size_t rank = 0; rank < queue.size(); ++rank) {
      by_arrival_.push_back({view.Arrival(queue[rank]), static_cast<int>(rank)});
    }
    std::sort(by_arrival_.begin(), by_arrival_.end());
    for (const auto& [arrival, rank] : by_arrival_) passing_.push_back(queue[static_cast<std::size_t>(rank)]);
  } else {
    passing_.insert(passing_.end(), view.arrived().begin(), view.arrived().end());
  }
  published_.Fill(view, passing_, committed_, -1, plan_);
}

}  // namespace berth
