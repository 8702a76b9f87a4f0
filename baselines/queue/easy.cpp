// EASY backfilling in arrival order: `fcfs(backfill=easy)` by its usual name.
#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kPlaceParam};

double Score(const ClusterView& view, int job) {
  return view.Arrival(job);
}

}  // namespace

SchedulerInfo EasyInfo() {
  return {"easy",
          "first come, first served with EASY backfilling; the head of the queue holds a reservation",
          "Lifka, JSSPP 1995",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            QueueRuleOptions options;
            options.place = ReadTypeChoice(params);
            options.backfill = Backfill::kEasy;
            return std::make_unique<QueueRule>(ScoreRule{Score, Knowledge::kNone, /*moves=*/false}, options);
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
