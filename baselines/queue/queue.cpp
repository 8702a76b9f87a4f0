// The queue rules as what they are made of: an order, a way of filling the gaps, a choice of GPU type, and
// whether running jobs make way. Every named rule is one of these compositions.
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

constexpr ParamInfo kParams[] = {
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

}  // namespace

SchedulerInfo QueueInfo() {
  return {"queue",
          "a queue rule put together: order x backfill x placement x preemption; O(types log n) a start",
          "survey of batch scheduling: Feitelson, Rudolph and Schwiegelshohn, JSSPP 2004",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kParams,
          [](Params& params) {
            const ScoreRule rule = ReadOrder(params);
            QueueRuleOptions options = ReadQueueParams(params, "placement");
            options.backfill_order = ReadBackfillOrder(params);
            options.reserve_by_start = params.Choice(kReserveParam.name, {"finish", "start"}) == 1;
            options.queue_limit = ReadQueueLimit(params);
            options.preemption =
                params.Choice("preemption", {"none", "order"}) == 1 ? Preemption::kOrder : Preemption::kNone;
            return MakeQueue(rule, options);
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
