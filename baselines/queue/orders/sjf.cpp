// Shortest job first: by what its user requested, where there is a request, otherwise by the remaining
// seconds on its fastest type. Running jobs are never disturbed.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return RequestedSeconds(view, job);
}

}  // namespace

OrderInfo SjfOrder() {
  return {"sjf",
          "shortest job first, by request or remaining time on its fastest type; non-preemptive; O(types log "
          "n) a start",
          "shortest-processing-time rule, Smith 1956",
          Score,
          Knowledge::kEstimate,
          /*moves=*/false,
          {.types = true, .jobs = true, .times = true}};
}

SchedulerInfo SjfInfo() {
  return NamedRule<SjfOrder>();
}

}  // namespace berth
