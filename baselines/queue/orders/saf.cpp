// Smallest area first: requested time times GPUs, r n.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return RequestedSeconds(view, job) * view.Gang(job);
}

}  // namespace

OrderInfo SafOrder() {
  return {"saf",
          "smallest area (request x GPUs) first; non-preemptive; O(types log n) a start",
          "Carastan-Santos et al., CCGrid 2019; traces/PROTOCOL.md §2",
          Score,
          Knowledge::kEstimate,
          /*moves=*/false,
          {.types = true, .jobs = true, .times = true}};
}

SchedulerInfo SafInfo() {
  return NamedRule<SafOrder>();
}

}  // namespace berth
