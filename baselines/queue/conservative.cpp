// Conservative backfilling in arrival order: `queue(order=fcfs,backfill=conservative)`.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kReserveParam};

}  // namespace

SchedulerInfo ConservativeInfo() {
  SchedulerInfo info = NamedRule<FcfsOrder>();
  info.name = "conservative";
  info.summary = "backfilling with a reservation for every queued job; O(n^2 types) a decision";
  info.source = "Mu'alem and Feitelson, IEEE TPDS 12(6), 2001";
  info.knowledge = Knowledge::kEstimate;
  info.params = kParams;
  info.make = [](Params& params) {
    QueueRuleOptions options;
    options.backfill = Backfill::kConservative;
    options.reserve_by_start = params.Choice(kReserveParam.name, {"finish", "start"}) == 1;
    return MakeQueue(FcfsOrder().rule(), options);
  };
  return info;
}

}  // namespace berth
