// Static priority: the heaviest weight first, then arrival order. Running jobs are never disturbed, unless
// preemptive=true: then a heavier arrival takes the GPUs of lighter jobs, which go on later where they
// stopped (preemptive resume).
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPreemptiveParam = {
    "preemptive", "false", "true: lighter running jobs are stopped for heavier ones and resume later"};
constexpr ParamInfo kParams[] = {kPlaceParam, kOvertakeParam, kSemanticsParam, kBackfillParam,
                                 kPreemptiveParam};

double Score(const ClusterView& view, int job) {
  return -view.Weight(job);
}

}  // namespace

OrderInfo PriorityOrder() {
  return {"priority",
          "heaviest weight first, then arrival; non-preemptive unless told otherwise; O(types log n) a start",
          "static-priority (head-of-line) queueing, Cobham 1954; preemptive resume, White & Christie 1958",
          Score,
          Knowledge::kNone,
          /*moves=*/false,
          {.types = true, .jobs = true, .times = true}};
}

SchedulerInfo PriorityInfo() {
  SchedulerInfo info = NamedRule<PriorityOrder>();
  info.params = kParams;
  info.make = [](Params& params) {
    QueueRuleOptions options = ReadQueueParams(params);
    if (params.Bool(kPreemptiveParam.name))
      options.preemption = Preemption::kOrder, options.preemption_text = "preemptive=true";
    return MakeQueue(PriorityOrder().rule(), options);
  };
  return info;
}

}  // namespace berth
