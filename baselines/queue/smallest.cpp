// Smallest job first: by GPUs, n.
#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return view.Gang(job);
}

}  // namespace

SchedulerInfo SmallestInfo() {
  return {"smallest",
          "smallest gang first, then arrival; non-preemptive",
          "Majumdar, Eager and Bunt, SIGMETRICS 1988; traces/PROTOCOL.md §2",
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
