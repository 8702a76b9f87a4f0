// Smallest area first: requested time times GPUs, r n.
#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/estimates.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return RequestedSeconds(view, job) * view.Gang(job);
}

}  // namespace

SchedulerInfo SafInfo() {
  return {"saf",
          "smallest area (request x GPUs) first; non-preemptive",
          "Carastan-Santos et al., CCGrid 2019; traces/PROTOCOL.md §2",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kQueueParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return MakeQueueRule(params, {Score, Knowledge::kEstimate, /*moves=*/false});
          },
          /*claims=*/{.types = true, .jobs = true, .times = true}};
}

}  // namespace berth
