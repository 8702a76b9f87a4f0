// EASY with shortest job backfilled first (SJBF): the queue and its head, which holds the reservation, are in
// arrival order, those behind it are tried by length: `queue(order=fcfs,backfill=easy,backfill_order=sjf)`.
// On predicted run times, `predicted(inner=easy_sjbf)`, it is what the paper calls EASY++ (its predictor is
// the mean of the user's last two jobs).
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kPlaceParam};

}  // namespace

SchedulerInfo EasySjbfInfo() {
  SchedulerInfo info = NamedRule<FcfsOrder>();
  info.name = "easy_sjbf";
  info.summary = "EASY backfilling where the shortest job is backfilled first; O(types log n) a start";
  info.source = "Tsafrir, Etsion & Feitelson, IEEE TPDS 18(6), 2007: SJBF";
  info.knowledge = Knowledge::kEstimate;
  info.params = kParams;
  info.make = [](Params& params) {
    QueueRuleOptions options;
    options.place = ReadTypeChoice(params);
    options.backfill = Backfill::kEasy;
    options.backfill_order = SjfOrder().rule();
    return MakeQueue(FcfsOrder().rule(), options);
  };
  return info;
}

}  // namespace berth
