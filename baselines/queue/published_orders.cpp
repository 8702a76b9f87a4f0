// Scores of batch scheduling that papers give: the least first, with the wait w, r requested seconds, n GPUs
// and s seconds of arrival from the scenario's origin. With every order stands the row of its name.
#include <algorithm>
#include <cmath>

#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/portable_math.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPublishedBugParam = {
    "published_bug", "false",
    "true: the score as RLScheduler's code has it, with -(1 + arrival) for the wait"};
constexpr ParamInfo kWfp3Params[] = {kPlaceParam, kOvertakeParam, kSemanticsParam, kBackfillParam,
                                     kPublishedBugParam};
constexpr ParamInfo kUnicepParams[] = {
    kPlaceParam,
    kOvertakeParam,
    kSemanticsParam,
    kBackfillParam,
    kPublishedBugParam,
    {"floor", "true",
     "log2(GPUs) counts as at least 1; false, and with published_bug: as RLScheduler's code has it"}};

double Wait(const ClusterView& view, int job) {
  return view.now() - view.Arrival(job);
}
// As RLScheduler's code has it: jobs that wait carry the start time -1. Needed only to rerun its tables.
double PublishedWait(const ClusterView& view, int job) {
  return -1.0 - view.Arrival(job);
}

double Lxf(const ClusterView& view, int job) {
  const double r = RequestedSeconds(view, job);
  return -(Wait(view, job) + r) / r;
}

double Wfp3Of(const ClusterView& view, int job, double wait) {
  const double expansion = wait / RequestedSeconds(view, job);
  return -(expansion * expansion * expansion) * view.Gang(job);
}
double Wfp3(const ClusterView& view, int job) {
  return Wfp3Of(view, job, Wait(view, job));
}
double PublishedWfp3(const ClusterView& view, int job) {
  return Wfp3Of(view, job, PublishedWait(view, job));
}

double Unicep(const ClusterView& view, int job) {
  const double wait = Wait(view, job);
  return -wait / (std::max(1.0, Log2(view.Gang(job))) * RequestedSeconds(view, job));
}
// Without the floor jobs of one GPU have log2(n) = 0. The published code adds 1e-15 to wait and GPUs, which
// lets such jobs pass all others, in the order of wait / request.
double UnflooredOf(const ClusterView& view, int job, double wait) {
  return -(wait + 1e-15) / (Log2(view.Gang(job) + 1e-15) * RequestedSeconds(view, job));
}
double UnflooredUnicep(const ClusterView& view, int job) {
  return UnflooredOf(view, job, Wait(view, job));
}
double PublishedUnicep(const ClusterView& view, int job) {
  return UnflooredOf(view, job, PublishedWait(view, job));
}

// F1 to F4, found by regression, weigh size against order of arrival, so they depend on where the origin
// lies. The guard is RLScheduler's, which has it for F1 alone; its F2 to F4 are minus infinity for a job that
// arrives at 0.
double LogOf(double x) {
  return Log10(x > 0.0 ? x : 0.1);
}
double F1(const ClusterView& view, int job) {
  return LogOf(RequestedSeconds(view, job)) * view.Gang(job) + 870.0 * LogOf(view.Arrival(job));
}
double F2(const ClusterView& view, int job) {
  return std::sqrt(RequestedSeconds(view, job)) * view.Gang(job) + 25600.0 * LogOf(view.Arrival(job));
}
double F3(const ClusterView& view, int job) {
  return RequestedSeconds(view, job) * view.Gang(job) + 6860000.0 * LogOf(view.Arrival(job));
}
double F4(const ClusterView& view, int job) {
  return RequestedSeconds(view, job) * std::sqrt(view.Gang(job)) + 530000.0 * LogOf(view.Arrival(job));
}
OrderInfo FOrder(const char* name, const char* summary, double (*score)(const ClusterView&, int)) {
  return {name,
          summary,
          "Carastan-Santos and de Camargo, SC 2017",
          score,
          Knowledge::kEstimate,
          /*moves=*/false,
          {.types = true, .jobs = true}};
}

}  // namespace

OrderInfo LxfOrder() {
  return {"lxf",
          "largest expansion factor (wait + request) / request first; non-preemptive; O(n types) a decision",
          "Chiang, Arpaci-Dusseau and Vernon, JSSPP 2002",
          Lxf,
          Knowledge::kEstimate,
          /*moves=*/true,
          {.types = true, .times = true}};
}
SchedulerInfo LxfInfo() {
  return NamedRule<LxfOrder>();
}

OrderInfo Wfp3Order() {
  return {"wfp3",
          "WFP3 of the Cobalt scheduler, (wait / request)^3 x GPUs, largest first; non-preemptive; O(n "
          "types) a decision",
          "Tang et al., CLUSTER 2009",
          Wfp3,
          Knowledge::kEstimate,
          /*moves=*/true,
          {.types = true, .times = true}};
}
SchedulerInfo Wfp3Info() {
  SchedulerInfo info = NamedRule<Wfp3Order>(kWfp3Params);
  info.make = [](Params& params) {
    ScoreRule rule = Wfp3Order().rule();
    if (params.Bool(kPublishedBugParam.name)) rule = {PublishedWfp3, Knowledge::kEstimate, /*moves=*/false};
    return MakeQueue(rule, ReadQueueParams(params));
  };
  return info;
}

OrderInfo UnicepOrder() {
  return {"unicep",
          "UNICEP, wait / (log2(GPUs) x request), largest first; non-preemptive; O(n types) a decision",
          "Tang et al., CLUSTER 2009",
          Unicep,
          Knowledge::kEstimate,
          /*moves=*/true,
          {.types = true, .times = true}};
}
SchedulerInfo UnicepInfo() {
  SchedulerInfo info = NamedRule<UnicepOrder>(kUnicepParams);
  info.make = [](Params& params) {
    ScoreRule rule = UnicepOrder().rule();
    if (!params.Bool("floor")) rule.score = UnflooredUnicep;
    if (params.Bool(kPublishedBugParam.name)) rule = {PublishedUnicep, Knowledge::kEstimate, /*moves=*/false};
    return MakeQueue(rule, ReadQueueParams(params));
  };
  return info;
}

OrderInfo F1Order() {
  return FOrder("f1", "least log10(r) n + 870 log10(s) first; non-preemptive; O(types log n) a start", F1);
}
OrderInfo F2Order() {
  return FOrder("f2", "least sqrt(r) n + 25600 log10(s) first; non-preemptive; O(types log n) a start", F2);
}
OrderInfo F3Order() {
  return FOrder("f3", "least r n + 6860000 log10(s) first; non-preemptive; O(types log n) a start", F3);
}
OrderInfo F4Order() {
  return FOrder("f4", "least r sqrt(n) + 530000 log10(s) first; non-preemptive; O(types log n) a start", F4);
}
SchedulerInfo F1Info() {
  return NamedRule<F1Order>();
}
SchedulerInfo F2Info() {
  return NamedRule<F2Order>();
}
SchedulerInfo F3Info() {
  return NamedRule<F3Order>();
}
SchedulerInfo F4Info() {
  return NamedRule<F4Order>();
}

}  // namespace berth
