// First come, first served onto the type with the most room, which spreads the load:
// `queue(order=fcfs,placement=roomiest)` by its usual name.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kOvertakeParam};

}  // namespace

SchedulerInfo WorstFitInfo() {
  SchedulerInfo info = NamedRule<FcfsOrder>();
  info.name = "worst_fit";
  info.summary =
      "first come, first served onto the type with the most room that fits, the faster on ties; O(n types)";
  info.source = "bin packing: Johnson, Demers, Ullman, Garey & Graham 1974";
  info.params = kParams;
  info.claims = {.times = true};
  info.make = [](Params& params) {
    QueueRuleOptions options;
    options.place = TypeChoice::kRoomiest;
    options.overtake = params.Bool(kOvertakeParam.name);
    return MakeQueue(FcfsOrder().rule(), options);
  };
  return info;
}

}  // namespace berth
