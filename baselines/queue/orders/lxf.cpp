// Largest expansion factor first: -(w + r) / r, with the wait w and the request r.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  const double r = RequestedSeconds(view, job);
  return -((view.now() - view.Arrival(job)) + r) / r;
}

}  // namespace

OrderInfo LxfOrder() {
  return {"lxf",
          "largest expansion factor (wait + request) / request first; non-preemptive; O(n types) a decision",
          "Chiang, Arpaci-Dusseau and Vernon, JSSPP 2002; traces/PROTOCOL.md §4",
          Score,
          Knowledge::kEstimate,
          /*moves=*/true,
          {.types = true, .times = true}};
}

SchedulerInfo LxfInfo() {
  return NamedRule<LxfOrder>();
}

}  // namespace berth
