// The scores F1 to F4 that Carastan-Santos and de Camargo found by regression: r requested seconds, n GPUs, s
// seconds of arrival from the scenario's origin. They weigh size against order of arrival, so they depend on
// where the origin lies.
#include <algorithm>
#include <cmath>

#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/portable_math.hpp"
#include "env/predict/run_times.hpp"

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

OrderInfo Order(const char* name, const char* summary, double (*score)(const ClusterView&, int)) {
  return {
      name, summary, kSource, score, Knowledge::kEstimate, /*moves=*/false, {.types = true, .jobs = true}};
}

}  // namespace

OrderInfo F1Order() {
  return Order("f1", "least log10(r) n + 870 log10(s) first; non-preemptive; O(types log n) a start", F1);
}
OrderInfo F2Order() {
  return Order("f2", "least sqrt(r) n + 25600 log10(s) first; non-preemptive; O(types log n) a start", F2);
}
OrderInfo F3Order() {
  return Order("f3", "least r n + 6860000 log10(s) first; non-preemptive; O(types log n) a start", F3);
}
OrderInfo F4Order() {
  return Order("f4", "least r sqrt(n) + 530000 log10(s) first; non-preemptive; O(types log n) a start", F4);
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
