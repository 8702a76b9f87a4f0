// Largest expansion factor first: -(w + r) / r, with the wait w and the request r.
#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/estimates.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  const double r = RequestedSeconds(view, job);
  return -((view.now() - view.Arrival(job)) + r) / r;
}

}  // namespace

SchedulerInfo LxfInfo() {
  return {"lxf",
          "largest expansion factor (wait + request) / request first; non-preemptive",
          "Chiang, Arpaci-Dusseau and Vernon, JSSPP 2002; traces/PROTOCOL.md §4",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kQueueParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return MakeQueueRule(params, {Score, Knowledge::kEstimate, /*moves=*/true});
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
