// Longest job first: what the longest-processing-time rule does to a queue. On identical machines, with all
// jobs there at the start, its makespan is within 4/3 - 1/(3m) of the best (Graham 1969).
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  return -RequestedSeconds(view, job);
}

}  // namespace

OrderInfo LjfOrder() {
  return {"ljf",
          "longest job first, by request or remaining time on its fastest type; non-preemptive; O(types log "
          "n) a start",
          "longest-processing-time rule, Graham, SIAM J. Appl. Math. 17(2), 1969",
          Score,
          Knowledge::kEstimate,
          /*moves=*/false,
          {.types = true, .jobs = true, .times = true}};
}

SchedulerInfo LjfInfo() {
  return NamedRule<LjfOrder>();
}

}  // namespace berth
