// First come, first served onto the type with the least room that fits, which keeps large holes for large
// gangs: `queue(order=fcfs,placement=best_fit)`
// by its usual name.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kOvertakeParam};

}  // namespace

SchedulerInfo BestFitInfo() {
  SchedulerInfo info = NamedRule<FcfsOrder>();
  info.name = "best_fit";
  info.summary =
      "first come, first served onto the type with the least room that fits, the faster on ties; O(n types)";
  info.source = "bin packing: Johnson, Demers, Ullman, Garey & Graham 1974";
  info.params = kParams;
  info.claims = {.times = true};
  info.make = [](Params& params) {
    QueueRuleOptions options;
    options.place = TypeChoice::kBestFit;
    options.overtake = params.Bool(kOvertakeParam.name);
    return MakeQueue(FcfsOrder().rule(), options);
  };
  return info;
}

}  // namespace berth
