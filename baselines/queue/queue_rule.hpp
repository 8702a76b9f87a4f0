// The non-preemptive queue rules: a score orders the queue, and this starts from it. A rule supplies the
// score (ScoreRule); order, placement, semantics and backfilling are the same for all.
//
//   redecide  at every decision point the queue is sorted, and started from its head while that fits
//             (as in textbooks);
//   commit    the best job is chosen and blocks all others until it starts; under clock `hpc` this is
//             RLScheduler's simulator (Zhang et al., SC 2020; HPCEnv.schedule of its HPCSimPickJobs.py).
#pragma once

#include <memory>
#include <optional>

#include "baselines/queue/conservative_backfill.hpp"
#include "baselines/queue/easy_backfill.hpp"
#include "baselines/queue/order.hpp"
#include "baselines/queue/score_queue.hpp"
#include "baselines/queue/type_choice.hpp"
#include "baselines/ranking.hpp"
#include "env/gym/commit_backfill.hpp"
#include "env/gym/mdp.hpp"
#include "env/sim/plan.hpp"
#include "env/sim/scheduler.hpp"

namespace berth {

enum class Backfill { kNone, kEasy, kConservative };
enum class Preemption { kNone, kOrder };

struct QueueRuleOptions {
  static constexpr int kNoLimit = -1;
  TypeChoice place = TypeChoice::kFastest;
  bool overtake = false;  // a job that does not fit is passed over instead of blocking those behind it
  Semantics semantics = Semantics::kRedecide;
  Backfill backfill = Backfill::kNone;
  bool reserve_by_start = false;  // kConservative
  std::optional<ScoreRule>
      backfill_order;  // kEasy: in which those behind the head are tried; none = the rule's
  Preemption preemption = Preemption::kNone;
  const char* preemption_text = "preemption=order";  // as the user wrote it
  int queue_limit = kNoLimit;  // most jobs that wait: the latest arrivals beyond it are rejected
};

inline constexpr ParamInfo kSemanticsParam = {
    "semantics", "redecide",
    "redecide: the queue is looked at afresh every time | commit: the chosen job blocks until it fits"};
inline constexpr ParamInfo kBackfillParam = {
    "backfill", "none",
    "none | easy (under commit: the published variant, strict and in arrival order) | conservative"};
inline constexpr ParamInfo kBackfillOrderParam = {
    "backfill_order", "same",
    "backfill=easy: in which order those behind the head are tried: same (as order) | fcfs | sjf | ..."};
inline constexpr ParamInfo kReserveParam = {
    "reserve", "finish", "a job reserves the type on which it would finish | start earliest"};
inline constexpr ParamInfo kQueueLimitParam = {
    "queue_limit", "none",
    "most jobs that wait, from 0: an arrival that finds as many is rejected; none = no limit"};
// What every score rule takes.
inline constexpr ParamInfo kQueueParams[] = {kPlaceParam, kOvertakeParam, kSemanticsParam, kBackfillParam};

// Reads kQueueParams; the second form has the placement under the name `place`.
QueueRuleOptions ReadQueueParams(Params& params);
QueueRuleOptions ReadQueueParams(Params& params, const char* place);
bool ReadReserveByStart(Params& params);  // kReserveParam
int ReadQueueLimit(Params& params);

// The pieces put together. Throws Error where two of them contradict each other, naming both.
std::unique_ptr<Scheduler> MakeQueue(const ScoreRule& rule, const QueueRuleOptions& options);

// The row of an order by its name: `sjf(...)` is `queue(order=sjf,...)`. `kRead` makes the options of
// `params`.
template <OrderInfo (*kOrder)(), QueueRuleOptions (*kRead)(Params&) = ReadQueueParams>
SchedulerInfo NamedRule(std::span<const ParamInfo> params = kQueueParams) {
  const OrderInfo order = kOrder();
  return {order.name,
          order.summary,
          order.source,
          "",
          order.knowledge,
          /*preemptive=*/false,
          params,
          [](Params& given) { return MakeQueue(kOrder().rule(), kRead(given)); },
          order.claims};
}

// What preemption=order runs: a queue rule that stops running jobs for those before them in its order
// (preemptive resume). It plans anew from an empty cluster at every decision. A running job stays on its type
// while there is room for it: it is stopped or moved only by jobs before it, or by earlier ones of its score
// that it overtook. Where nobody may overtake, a job that does not fit keeps those behind it from starting,
// not from running on. Every decision scores and sorts all jobs that are there.
std::unique_ptr<Scheduler> MakePreemptiveQueue(const ScoreRule& rule, TypeChoice place, bool overtake);

// Non-preemptive. Allocates only until its arrays have grown to the longest queue.
class QueueRule final : public Scheduler {
 public:
  QueueRule(const ScoreRule& rule, const QueueRuleOptions& options);
  Knowledge knowledge() const override;
  bool goes_by_requests() const override {
    return !rule_.reads_work && !(options_.backfill_order && options_.backfill_order->reads_work);
  }
  void Reset(const ClusterView& view) override;
  void Decide(const ClusterView& view, Decision& decision) override;

 private:
  void Redecide(const ClusterView& view);
  void Commit(const ClusterView& view);
  void Pass(const ClusterView& view, bool chosen_now);
  void TurnAway(const ClusterView& view, Decision& decision) const;

  ScoreRule rule_;
  QueueRuleOptions options_;
  ScoreQueue queue_;
  std::optional<ScoreQueue> behind_;  // the waiting jobs in an order of backfilling of their own
  EasyBackfill easy_;
  ConservativeBackfill conservative_;
  CommitBackfill published_;
  std::uint64_t mark_ = 0;  // of ClusterView::Follows
  int committed_ = -1;
  std::vector<int> passing_;  // whom the published backfill tries, in its order
  Plan plan_;
};

}  // namespace berth
