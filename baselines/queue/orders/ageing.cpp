// Priority with ageing: weight times waiting time, so that every job becomes the head in the end, the heavier
// the sooner. Kleinrock's delay-dependent priorities, q = b (t - T), with the weight as b: the mean waits of
// M/M/1 have a closed form (Queueing Systems II, 1976, section 3.7). (A priority that grows at one pace for
// all would only be a constant head start: the order of weight / pace - arrival.)
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return -view.Weight(job) * (view.now() - view.Arrival(job));
}

}  // namespace

OrderInfo AgeingOrder() {
  return {"ageing",
          "priority with ageing: weight x wait, greatest first; non-preemptive; O(n types) a decision",
          "delay-dependent priorities, Kleinrock, Naval Research Logistics Quarterly 11, 1964",
          Score,
          Knowledge::kNone,
          /*moves=*/true,
          {.types = true, .times = true}};
}

SchedulerInfo AgeingInfo() {
  return NamedRule<AgeingOrder>();
}

}  // namespace berth
