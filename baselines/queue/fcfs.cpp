// First come, first served: strict arrival order, no overtaking unless backfilling is asked for. With a queue
// limit it is the loss system M/M/c/K of queueing theory (K = GPUs + limit).
#include <limits>
#include <string>

#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/check.hpp"

namespace berth {
namespace {

constexpr ParamInfo kQueueLimitParam = {
    "queue_limit", "none",
    "most jobs that wait, from 0: an arrival that finds as many is rejected; none = no limit"};
constexpr ParamInfo kParams[] = {kPlaceParam, kOvertakeParam, kSemanticsParam, kBackfillParam,
                                 kQueueLimitParam};

int ReadQueueLimit(Params& params) {
  const std::string text = params.Text(kQueueLimitParam.name);
  if (text == "none") return QueueRuleOptions::kNoLimit;
  const std::string what = "fcfs: parameter 'queue_limit' (none, or how many may wait)";
  const long long limit = ParseInteger(text, what);
  if (limit < 0 || limit > std::numeric_limits<int>::max()) {
    throw Error(Join(what, ": expected 0 or more, found ", text));
  }
  return static_cast<int>(limit);
}

double Score(const ClusterView& view, int job) {
  return view.Arrival(job);
}

}  // namespace

SchedulerInfo FcfsInfo() {
  return {"fcfs",
          "first come, first served; strict order, no overtaking",
          "queueing textbook",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            QueueRuleOptions options = ReadQueueParams(params);
            options.queue_limit = ReadQueueLimit(params);
            return std::make_unique<QueueRule>(ScoreRule{Score, Knowledge::kNone, /*moves=*/false}, options);
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
