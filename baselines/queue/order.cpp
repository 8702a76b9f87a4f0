// The table of orders, and those that need one line each: by arrival, length, size and weight. With every
// order stands the row of its name: `sjf(...)` is `queue(order=sjf,...)`.
#include "baselines/queue/order.hpp"

#include <string>
#include <vector>

#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/predict/run_times.hpp"

namespace berth {

std::span<const OrderInfo> QueueOrders() {
#define BERTH_ROW(Name) Name##Order(),
  static const OrderInfo table[] = {BERTH_QUEUE_ORDERS(BERTH_ROW)};
#undef BERTH_ROW
  return table;
}

ScoreRule FindOrder(const char* what, const std::string& name, const char* others) {
  std::vector<std::string> known;
  for (const OrderInfo& order : QueueOrders()) {
    if (name == order.name) return order.rule();
    known.emplace_back(order.name);
  }
  if (others != nullptr) known.emplace_back(others);
  throw Error(Join(what, ": expected the name of an order", others != nullptr ? Join(" or ", others) : "",
                   ", found '", name, "'", DidYouMean(name, known)));
}

namespace {

constexpr ParamInfo kFcfsParams[] = {kPlaceParam, kOvertakeParam, kSemanticsParam, kBackfillParam,
                                     kQueueLimitParam};
constexpr ParamInfo kPreemptiveParam = {
    "preemptive", "false", "true: lighter running jobs are stopped for heavier ones and resume later"};
constexpr ParamInfo kPriorityParams[] = {kPlaceParam, kOvertakeParam, kSemanticsParam, kBackfillParam,
                                         kPreemptiveParam};

QueueRuleOptions ReadFcfs(Params& params) {
  QueueRuleOptions options = ReadQueueParams(params);
  options.queue_limit = ReadQueueLimit(params);
  return options;
}

QueueRuleOptions ReadPriority(Params& params) {
  QueueRuleOptions options = ReadQueueParams(params);
  if (params.Bool(kPreemptiveParam.name))
    options.preemption = Preemption::kOrder, options.preemption_text = "preemptive=true";
  return options;
}

double Arrival(const ClusterView& view, int job) {
  return view.Arrival(job);
}
// What the user requested, where there is a request, otherwise the remaining seconds on the fastest type.
double Length(const ClusterView& view, int job) {
  return RequestedSeconds(view, job);
}
double Longest(const ClusterView& view, int job) {
  return -RequestedSeconds(view, job);
}
double Gang(const ClusterView& view, int job) {
  return view.Gang(job);
}
double Largest(const ClusterView& view, int job) {
  return -view.Gang(job);
}
double Area(const ClusterView& view, int job) {
  return RequestedSeconds(view, job) * view.Gang(job);
}
double Heaviest(const ClusterView& view, int job) {
  return -view.Weight(job);
}
double Aged(const ClusterView& view, int job) {
  return -view.Weight(job) * (view.now() - view.Arrival(job));
}

}  // namespace

// Strict arrival order, no overtaking unless backfilling is asked for. With a queue limit it is the loss
// system M/M/c/K of queueing theory (K = GPUs + limit).
OrderInfo FcfsOrder() {
  return {"fcfs",
          "first come, first served; strict order, no overtaking; O(types log n) a start",
          "queueing textbook",
          Arrival,
          Knowledge::kNone,
          /*moves=*/false,
          {.types = true, .times = true}};
}
SchedulerInfo FcfsInfo() {
  return NamedRule<FcfsOrder, ReadFcfs>(kFcfsParams);
}

OrderInfo SjfOrder() {
  return {"sjf",
          "shortest job first, by request or remaining time on its fastest type; non-preemptive; O(types log "
          "n) a start",
          "shortest-processing-time rule, Smith 1956",
          Length,
          Knowledge::kEstimate,
          /*moves=*/false,
          {.types = true, .jobs = true, .times = true}};
}
SchedulerInfo SjfInfo() {
  return NamedRule<SjfOrder>();
}

// What the longest-processing-time rule does to a queue. On identical machines, with all jobs there at the
// start, its makespan is within 4/3 - 1/(3m) of the best (Graham 1969).
OrderInfo LjfOrder() {
  return {"ljf",
          "longest job first, by request or remaining time on its fastest type; non-preemptive; O(types log "
          "n) a start",
          "longest-processing-time rule, Graham, SIAM J. Appl. Math. 17(2), 1969",
          Longest,
          Knowledge::kEstimate,
          /*moves=*/false,
          {.types = true, .jobs = true, .times = true}};
}
SchedulerInfo LjfInfo() {
  return NamedRule<LjfOrder>();
}

OrderInfo SmallestOrder() {
  return {"smallest",
          "smallest gang first, then arrival; non-preemptive; O(types log n) a start",
          "Majumdar, Eager and Bunt, SIGMETRICS 1988",
          Gang,
          Knowledge::kNone,
          /*moves=*/false,
          {.types = true, .times = true}};
}
SchedulerInfo SmallestInfo() {
  return NamedRule<SmallestOrder>();
}

// With overtake=true the jobs of one instant are packed first fit decreasing.
OrderInfo LargestOrder() {
  return {"largest",
          "largest gang first, then arrival; non-preemptive; O(types log n) a start",
          "the decreasing order of bin packing, Johnson et al., SIAM J. Comput. 3(4), 1974",
          Largest,
          Knowledge::kNone,
          /*moves=*/false,
          {.types = true, .times = true}};
}
SchedulerInfo LargestInfo() {
  return NamedRule<LargestOrder>();
}

OrderInfo SafOrder() {
  return {"saf",
          "smallest area (request x GPUs) first; non-preemptive; O(types log n) a start",
          "Carastan-Santos et al., CCGrid 2019",
          Area,
          Knowledge::kEstimate,
          /*moves=*/false,
          {.types = true, .jobs = true, .times = true}};
}
SchedulerInfo SafInfo() {
  return NamedRule<SafOrder>();
}

// Running jobs are never disturbed, unless preemptive=true: then a heavier arrival takes the GPUs of lighter
// jobs, which go on later where they stopped (preemptive resume).
OrderInfo PriorityOrder() {
  return {"priority",
          "heaviest weight first, then arrival; non-preemptive unless told otherwise; O(types log n) a start",
          "static-priority (head-of-line) queueing, Cobham 1954; preemptive resume, White & Christie 1958",
          Heaviest,
          Knowledge::kNone,
          /*moves=*/false,
          {.types = true, .jobs = true, .times = true}};
}
SchedulerInfo PriorityInfo() {
  return NamedRule<PriorityOrder, ReadPriority>(kPriorityParams);
}

// Weight times waiting time, so that every job becomes the head in the end, the heavier the sooner:
// Kleinrock's delay-dependent priorities, q = b (t - T), with the weight as b. The mean waits of M/M/1 have a
// closed form (Queueing Systems II, 1976, section 3.7). (A priority that grows at one pace for all would only
// be a constant head start: the order of weight / pace - arrival.)
OrderInfo AgeingOrder() {
  return {"ageing",
          "priority with ageing: weight x wait, greatest first; non-preemptive; O(n types) a decision",
          "delay-dependent priorities, Kleinrock, Naval Research Logistics Quarterly 11, 1964",
          Aged,
          Knowledge::kNone,
          /*moves=*/true,
          {.types = true, .times = true}};
}
SchedulerInfo AgeingInfo() {
  return NamedRule<AgeingOrder>();
}

}  // namespace berth
