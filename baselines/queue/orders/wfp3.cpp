// WFP3: -(w / r)^3 n, with the wait w, the request r and n GPUs.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

double Wfp3(const ClusterView& view, int job, double wait) {
  const double expansion = wait / RequestedSeconds(view, job);
  return -(expansion * expansion * expansion) * view.Gang(job);
}
double Score(const ClusterView& view, int job) {
  return Wfp3(view, job, view.now() - view.Arrival(job));
}
// As RLScheduler's code has it: jobs that wait carry the start time -1, so that the wait becomes -1 - s.
// Needed only to rerun its tables.
double PublishedScore(const ClusterView& view, int job) {
  return Wfp3(view, job, -1.0 - view.Arrival(job));
}

constexpr ParamInfo kParams[] = {kPlaceParam, kOvertakeParam, kSemanticsParam, kBackfillParam,
                                 kPublishedBugParam};

}  // namespace

OrderInfo Wfp3Order() {
  return {"wfp3",
          "WFP3 of the Cobalt scheduler, (wait / request)^3 x GPUs, largest first; non-preemptive; O(n "
          "types) a decision",
          "Tang et al., CLUSTER 2009; traces/PROTOCOL.md §2",
          Score,
          Knowledge::kEstimate,
          /*moves=*/true,
          {.types = true, .times = true}};
}

SchedulerInfo Wfp3Info() {
  SchedulerInfo info = NamedRule<Wfp3Order>();
  info.params = kParams;
  info.make = [](Params& params) {
    const bool bug = params.Bool(kPublishedBugParam.name);
    ScoreRule rule = Wfp3Order().rule();
    if (bug) rule = {PublishedScore, Knowledge::kEstimate, /*moves=*/false};
    return MakeQueue(rule, ReadQueueParams(params));
  };
  return info;
}

}  // namespace berth
