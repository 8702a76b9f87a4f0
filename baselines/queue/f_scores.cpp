// The scores F1 to F4 that Carastan-Santos and de Camargo found by regression: r requested seconds, n GPUs, s
// seconds of arrival from the scenario's origin. They weigh size against order of arrival, so they depend on
// where the origin lies.
#include <algorithm>
#include <cmath>

#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/estimates.hpp"
#include "env/portable_math.hpp"

namespace berth {
namespace {

constexpr const char* kSource = "Carastan-Santos and de Camargo, SC 2017; traces/PROTOCOL.md §2";

// RLScheduler's guard, which it has for F1 alone; its F2 to F4 are minus infinity for a job that arrives at
// 0.
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

template <double (*kScore)(const ClusterView&, int)>
SchedulerInfo Row(const char* name, const char* summary) {
  return {name,
          summary,
          kSource,
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kQueueParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return MakeQueueRule(params, {kScore, Knowledge::kEstimate, /*moves=*/false});
          },
          /*claims=*/{.types = true, .jobs = true}};
}

}  // namespace

SchedulerInfo F1Info() {
  return Row<F1>("f1", "least log10(r) n + 870 log10(s) first; non-preemptive");
}
SchedulerInfo F2Info() {
  return Row<F2>("f2", "least sqrt(r) n + 25600 log10(s) first; non-preemptive");
}
SchedulerInfo F3Info() {
  return Row<F3>("f3", "least r n + 6860000 log10(s) first; non-preemptive");
}
SchedulerInfo F4Info() {
  return Row<F4>("f4", "least r sqrt(n) + 530000 log10(s) first; non-preemptive");
}

}  // namespace berth
