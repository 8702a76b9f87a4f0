// The queue rules as what they are made of: an order, a way of filling the gaps, a choice of GPU type, and
// whether running jobs make way. Every named rule is one of these compositions; what contradicts what is said
// here.
#include <limits>
#include <optional>
#include <string>

#include "baselines/queue/order.hpp"
#include "baselines/queue/queue_rule.hpp"
#include "baselines/queue/score_expression.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr const char* kExpression = "expression";

constexpr ParamInfo kComposedQueueParams[] = {
    {"order", "fcfs",
     "who comes first: fcfs | sjf | ljf | smallest | largest | saf | lxf | wfp3 | unicep | f1 | f2 | f3 | f4 "
     "| priority | ageing | expression"},
    {"score", "none",
     "order=expression: least first, from wait, arrival, request, remaining, gang, weight, deadline, now "
     "(s), numbers, + - * / ^, parentheses and min, max, abs, sqrt, exp, log, log2, log10"},
    kBackfillParam,
    kBackfillOrderParam,
    kReserveParam,
    {"placement", "fastest", kPlaceParam.help},
    {"preemption", "none", "none | order: running jobs are stopped for those before them, and resume later"},
    kOvertakeParam,
    kSemanticsParam,
    kQueueLimitParam,
};

ScoreRule ReadOrder(Params& params) {
  const std::string name = params.Text("order"), score = params.Text("score");
  if (name == kExpression) {
    if (score == "none") throw Error("order=expression: expected score=... with it, found none");
    return ParseScore(score);
  }
  if (score != "none") {
    throw Error(Join("order=", name, " and score=", score,
                     " contradict each other: a score of one's own goes with order=expression"));
  }
  return FindOrder("queue: parameter 'order'", name, kExpression);
}

std::optional<ScoreRule> ReadBackfillOrder(Params& params) {
  const std::string name = params.Text(kBackfillOrderParam.name);
  if (name == kBackfillOrderParam.default_value) return std::nullopt;
  return FindOrder("queue: parameter 'backfill_order'", name, kBackfillOrderParam.default_value);
}

constexpr const char* kBackfills[] = {"backfill=none", "backfill=easy", "backfill=conservative"};

void Refuse(bool both, const std::string& one, const std::string& other, const char* why) {
  if (both) throw Error(Join(one, " and ", other, " contradict each other: ", why));
}

void CheckOptions(const QueueRuleOptions& options) {
  const std::string overtake = "overtake=true", commit = "semantics=commit", start = "reserve=start";
  const std::string backfill = kBackfills[static_cast<std::size_t>(options.backfill)];
  const std::string preempt = options.preemption_text, limit = Join("queue_limit=", options.queue_limit);
  const bool commits = options.semantics == Semantics::kCommit, fills = options.backfill != Backfill::kNone;
  const bool preempts = options.preemption != Preemption::kNone;
  Refuse(options.overtake && commits, overtake, commit, "the job chosen blocks all others");
  Refuse(options.overtake && fills, overtake, backfill, "backfilling decides who may overtake");
  Refuse(commits && options.backfill == Backfill::kConservative, commit, backfill,
         "one job at a time is committed to");
  Refuse(options.backfill_order && options.backfill != Backfill::kEasy, "backfill_order", backfill,
         "only EASY tries those behind the head in an order");
  Refuse(options.backfill_order && commits, "backfill_order", commit,
         "the published variant tries them in order of arrival");
  Refuse(options.reserve_by_start && options.backfill != Backfill::kConservative, start, backfill,
         "only conservative backfilling reserves for every job");
  Refuse(preempts && commits, preempt, commit, "every decision plans anew");
  Refuse(preempts && fills, preempt, backfill, "what runs may be stopped, so nothing can be reserved");
  Refuse(preempts && options.queue_limit != QueueRuleOptions::kNoLimit, preempt, limit,
         "a job that is stopped would have to be let in again");
}

}  // namespace

QueueRuleOptions ReadQueueParams(Params& params) {
  return ReadQueueParams(params, kPlaceParam.name);
}

QueueRuleOptions ReadQueueParams(Params& params, const char* place) {
  QueueRuleOptions options;
  options.place = ReadTypeChoice(params, place);
  options.overtake = params.Bool(kOvertakeParam.name);
  options.semantics = static_cast<Semantics>(params.Choice(kSemanticsParam.name, {"redecide", "commit"}));
  options.backfill =
      static_cast<Backfill>(params.Choice(kBackfillParam.name, {"none", "easy", "conservative"}));
  return options;
}

bool ReadReserveByStart(Params& params) {
  return params.Choice(kReserveParam.name, {"finish", "start"}) == 1;
}

int ReadQueueLimit(Params& params) {
  const std::string text = params.Text(kQueueLimitParam.name);
  if (text == "none") return QueueRuleOptions::kNoLimit;
  const std::string what = "parameter 'queue_limit' (none, or how many may wait)";
  const long long limit = ParseInteger(text, what);
  if (limit < 0 || limit > std::numeric_limits<int>::max()) {
    throw Error(Join(what, ": expected 0 or more, found ", text));
  }
  return static_cast<int>(limit);
}

std::unique_ptr<Scheduler> MakeQueue(const ScoreRule& rule, const QueueRuleOptions& options) {
  CheckOptions(options);
  if (options.preemption == Preemption::kNone) return std::make_unique<QueueRule>(rule, options);
  return MakePreemptiveQueue(rule, options.place, options.overtake);
}

SchedulerInfo QueueInfo() {
  return {"queue",
          "a queue rule put together: order x backfill x placement x preemption; O(types log n) a start",
          "survey of batch scheduling: Feitelson, Rudolph and Schwiegelshohn, JSSPP 2004",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kComposedQueueParams,
          [](Params& params) {
            const ScoreRule rule = ReadOrder(params);
            QueueRuleOptions options = ReadQueueParams(params, "placement");
            options.backfill_order = ReadBackfillOrder(params);
            options.reserve_by_start = ReadReserveByStart(params);
            options.queue_limit = ReadQueueLimit(params);
            options.preemption =
                params.Choice("preemption", {"none", "order"}) == 1 ? Preemption::kOrder : Preemption::kNone;
            return MakeQueue(rule, options);
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
