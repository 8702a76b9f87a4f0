// Shortest job first: by what its user requested, where there is a request, otherwise by the remaining
// seconds on its fastest type. Running jobs are never disturbed.
#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/estimates.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return RequestedSeconds(view, job);
}

}  // namespace

SchedulerInfo SjfInfo() {
  return {"sjf",
          "shortest job first, by request or remaining time on its fastest type; non-preemptive",
          "shortest-processing-time rule, Smith 1956",
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
