// EASY backfilling in arrival order: `queue(order=fcfs,backfill=easy)` by its usual name.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kPlaceParam};

}  // namespace

SchedulerInfo EasyInfo() {
  SchedulerInfo info = NamedRule<FcfsOrder>();
  info.name = "easy";
  info.summary =
      "first come, first served with EASY backfilling; the head holds a reservation; O(types log n) a start";
  info.source = "Lifka, JSSPP 1995";
  info.knowledge = Knowledge::kEstimate;
  info.params = kParams;
  info.make = [](Params& params) {
    QueueRuleOptions options;
    options.place = ReadTypeChoice(params);
    options.backfill = Backfill::kEasy;
    return MakeQueue(FcfsOrder().rule(), options);
  };
  return info;
}

}  // namespace berth
