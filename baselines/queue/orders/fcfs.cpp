// First come, first served: strict arrival order, no overtaking unless backfilling is asked for. With a queue
// limit it is the loss system M/M/c/K of queueing theory (K = GPUs + limit).
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kPlaceParam, kOvertakeParam, kSemanticsParam, kBackfillParam,
                                 kQueueLimitParam};

double Score(const ClusterView& view, int job) {
  return view.Arrival(job);
}

}  // namespace

OrderInfo FcfsOrder() {
  return {"fcfs",
          "first come, first served; strict order, no overtaking; O(types log n) a start",
          "queueing textbook",
          Score,
          Knowledge::kNone,
          /*moves=*/false,
          {.types = true, .times = true}};
}

SchedulerInfo FcfsInfo() {
  SchedulerInfo info = NamedRule<FcfsOrder>();
  info.params = kParams;
  info.make = [](Params& params) {
    QueueRuleOptions options = ReadQueueParams(params);
    options.queue_limit = ReadQueueLimit(params);
    return MakeQueue(FcfsOrder().rule(), options);
  };
  return info;
}

}  // namespace berth
