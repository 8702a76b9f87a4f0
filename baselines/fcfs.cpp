// First come, first served: strict arrival order, no overtaking unless backfilling is asked for.
#include "baselines/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

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
          kQueueParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return MakeQueueRule(params, {Score, Knowledge::kNone, /*moves=*/false});
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
