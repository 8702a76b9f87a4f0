#include "baselines/queue/queue_rule.hpp"

#include <algorithm>

namespace berth {

QueueRule::QueueRule(const ScoreRule& rule, const QueueRuleOptions& options)
    : rule_(rule),
      options_(options),
      queue_(rule, /*timed=*/options.backfill == Backfill::kEasy && !options.backfill_order),
      easy_(options.place),
      conservative_(options.reserve_by_start) {
  if (options.backfill_order) behind_.emplace(*options.backfill_order, /*timed=*/true);
}

Knowledge QueueRule::knowledge() const {
  if (options_.backfill == Backfill::kNone) return rule_.knowledge;
  const Knowledge behind = options_.backfill_order ? options_.backfill_order->knowledge : Knowledge::kNone;
  return std::max({rule_.knowledge, behind, Knowledge::kEstimate});
}

void QueueRule::Reset(const ClusterView&) {
  mark_ = 0;
  queue_.Reset();
  if (behind_) behind_->Reset();
  easy_.Reset();
  published_.Forget();
  committed_ = -1;
}

void QueueRule::Decide(const ClusterView& view, Decision& decision) {
  const bool follows = view.Follows(mark_);
  queue_.Track(view, follows);
  if (behind_) behind_->Track(view, follows);
  easy_.Track(view, follows);
  plan_.Begin(view, /*preemptive=*/false);
  if (options_.semantics == Semantics::kCommit) {
    Commit(view);  // chooses even where nobody has room: the choice is made now and waits
  } else if (!queue_.NoneFits(plan_)) {
    Redecide(view);
  }
  plan_.Emit(view, decision);
  if (options_.queue_limit != QueueRuleOptions::kNoLimit) TurnAway(view, decision);
}

// Once what fits has started, the latest arrivals beyond the limit are rejected: under clock `event` those
// that found the queue full. Who has run, under a scheduler whose place this one has taken, was admitted.
void QueueRule::TurnAway(const ClusterView& view, Decision& decision) const {
  int waiting = 0;
  for (int job : view.waiting()) {
    if (plan_.Placed(job) || ++waiting <= options_.queue_limit) continue;
    if (view.LastTypeOf(job) < 0) decision.Reject(job);
  }
}

void QueueRule::Redecide(const ClusterView& view) {
  queue_.Rewind(view);
  if (options_.backfill == Backfill::kConservative) return conservative_.Fill(view, queue_, plan_);
  const Opening opening(view, plan_);
  while (plan_.total_room() > 0) {
    const int job = options_.overtake ? queue_.Next(opening) : queue_.Next();
    if (job < 0) return;
    const int type = ChooseType(view, plan_, job, options_.place);
    if (type >= 0) {
      plan_.Put(view, job, type);
      continue;
    }
    if (options_.backfill != Backfill::kEasy) return;
    if (behind_) behind_->Rewind(view);
    return easy_.Fill(view, job, behind_ ? *behind_ : queue_, plan_);
  }
}

// Those that the published backfill started while the committed job waited have left the queue before the
// next choice.
void QueueRule::Commit(const ClusterView& view) {
  if (committed_ >= 0 && !view.IsWaiting(committed_)) committed_ = -1;  // somebody turned it away
  bool chosen_now = false;
  while (static_cast<int>(plan_.placed().size()) < view.num_waiting()) {
    if (committed_ < 0) {
      if (!chosen_now) queue_.Rewind(view);
      do committed_ = queue_.Next();
      while (plan_.Placed(committed_));
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
    passing_.assign(view.waiting().begin(), view.waiting().end());
    for (auto begin = passing_.begin(), end = begin; begin != passing_.end(); begin = end) {
      while (end != passing_.end() && view.Arrival(*end) == view.Arrival(*begin)) ++end;
      if (end - begin == 1) continue;
      std::stable_sort(begin, end,
                       [&](int a, int b) { return queue_.Score(view, a) < queue_.Score(view, b); });
    }
  } else {
    passing_.insert(passing_.end(), view.arrived().begin(), view.arrived().end());
  }
  published_.Fill(view, passing_, committed_, -1, plan_);
}

}  // namespace berth
