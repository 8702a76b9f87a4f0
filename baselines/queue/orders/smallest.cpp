// Smallest job first: by GPUs, n.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return view.Gang(job);
}

}  // namespace

OrderInfo SmallestOrder() {
  return {"smallest",
          "smallest gang first, then arrival; non-preemptive; O(types log n) a start",
          "Majumdar, Eager and Bunt, SIGMETRICS 1988; traces/PROTOCOL.md §2",
          Score,
          Knowledge::kNone,
          /*moves=*/false,
          {.types = true, .times = true}};
}

SchedulerInfo SmallestInfo() {
  return NamedRule<SmallestOrder>();
}

}  // namespace berth
