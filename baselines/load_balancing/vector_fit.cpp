// First come, first served onto the type with the least left of GPUs and of memory (best fit on memory
// and compute): `queue(order=fcfs,placement=vector_fit)`
// by its usual name.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kOvertakeParam};

}  // namespace

SchedulerInfo VectorFitInfo() {
  SchedulerInfo info = NamedRule<FcfsOrder>();
  info.name = "vector_fit";
  info.summary =
      "first come, first served by best fit on memory and compute, the faster on ties; O(n types^2)";
  info.source =
      "norm-based greedy: Panigrahy, Talwar, Uyeda & Wieder, Heuristics for Vector Bin Packing, 2011";
  info.params = kParams;
  info.claims = {.times = true};
  info.make = [](Params& params) {
    QueueRuleOptions options;
    options.place = TypeChoice::kVectorFit;
    options.overtake = params.Bool(kOvertakeParam.name);
    return MakeQueue(FcfsOrder().rule(), options);
  };
  return info;
}

}  // namespace berth
