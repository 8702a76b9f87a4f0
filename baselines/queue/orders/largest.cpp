// Largest job first: by GPUs, n. With overtake=true the jobs of one instant are packed first fit decreasing.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return -view.Gang(job);
}

}  // namespace

OrderInfo LargestOrder() {
  return {"largest",
          "largest gang first, then arrival; non-preemptive; O(types log n) a start",
          "the decreasing order of bin packing, Johnson et al., SIAM J. Comput. 3(4), 1974",
          Score,
          Knowledge::kNone,
          /*moves=*/false,
          {.types = true, .times = true}};
}

SchedulerInfo LargestInfo() {
  return NamedRule<LargestOrder>();
}

}  // namespace berth
