// UNICEP: -w / (log2(n) r), with the wait w, the request r and n GPUs.
#include <algorithm>

#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/portable_math.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

double Score(const ClusterView& view, int job) {
  const double wait = view.now() - view.Arrival(job);
  return -wait / (std::max(1.0, Log2(view.Gang(job))) * RequestedSeconds(view, job));
}

// Without the floor jobs of one GPU have log2(n) = 0. The published code adds 1e-15 to wait and GPUs, which
// lets such jobs pass all others, in the order of wait / request.
double Unicep(const ClusterView& view, int job, double wait) {
  return -(wait + 1e-15) / (Log2(view.Gang(job) + 1e-15) * RequestedSeconds(view, job));
}
double UnflooredScore(const ClusterView& view, int job) {
  return Unicep(view, job, view.now() - view.Arrival(job));
}
// As RLScheduler's code has it: jobs that wait carry the start time -1, so that the wait becomes -1 - s.
// Needed only to rerun its tables.
double PublishedScore(const ClusterView& view, int job) {
  return Unicep(view, job, -1.0 - view.Arrival(job));
}

constexpr ParamInfo kParams[] = {
    kPlaceParam,
    kOvertakeParam,
    kSemanticsParam,
    kBackfillParam,
    kPublishedBugParam,
    {"floor", "true",
     "log2(GPUs) counts as at least 1; false, and with published_bug: as RLScheduler's code has it"}};

}  // namespace

OrderInfo UnicepOrder() {
  return {"unicep",
          "UNICEP, wait / (log2(GPUs) x request), largest first; non-preemptive; O(n types) a decision",
          "Tang et al., CLUSTER 2009; traces/PROTOCOL.md §2 and §4",
          Score,
          Knowledge::kEstimate,
          /*moves=*/true,
          {.types = true, .times = true}};
}

SchedulerInfo UnicepInfo() {
  SchedulerInfo info = NamedRule<UnicepOrder>();
  info.params = kParams;
  info.make = [](Params& params) {
    const bool bug = params.Bool(kPublishedBugParam.name);
    ScoreRule rule = UnicepOrder().rule();
    if (!params.Bool("floor")) rule.score = UnflooredScore;
    if (bug) rule = {PublishedScore, Knowledge::kEstimate, /*moves=*/false};
    return MakeQueue(rule, ReadQueueParams(params));
  };
  return info;
}

}  // namespace berth
