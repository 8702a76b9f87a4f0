// EASY backfilling in the order of job length: `queue(order=sjf,backfill=easy)`. The shortest job is the head
// and holds the reservation, the others are tried by length too.
#include "baselines/queue/named_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kPlaceParam};

}  // namespace

SchedulerInfo EasySjfInfo() {
  SchedulerInfo info = NamedRule<SjfOrder>();
  info.name = "easy_sjf";
  info.summary =
      "shortest job first with EASY backfilling; the head holds a reservation; O(types log n) a start";
  info.source =
      "Carastan-Santos et al., CCGrid 2019 (EASY with another order of the queue); traces/PROTOCOL.md §4";
  info.knowledge = Knowledge::kEstimate;
  info.params = kParams;
  info.claims = {.types = true, .times = true};
  info.make = [](Params& params) {
    QueueRuleOptions options;
    options.place = ReadTypeChoice(params);
    options.backfill = Backfill::kEasy;
    return MakeQueue(SjfOrder().rule(), options);
  };
  return info;
}

}  // namespace berth
