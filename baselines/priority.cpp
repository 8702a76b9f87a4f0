// Static priority: the heaviest weight first, then arrival order. Running jobs are never disturbed.
#include "baselines/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return -view.Weight(job);
}

}  // namespace

SchedulerInfo PriorityInfo() {
  return {"priority",
          "heaviest weight first, then arrival; non-preemptive",
          "static-priority (head-of-line) queueing, Cobham 1954",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kQueueParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return MakeQueueRule(params, {Score, Knowledge::kNone, /*moves=*/false});
          },
          /*claims=*/{.types = true, .jobs = true, .times = true}};
}

}  // namespace berth
