// Conservative backfilling in arrival order: `fcfs(backfill=conservative)`, with a choice of what is
// reserved.
#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"reserve", "finish", "a job reserves the type on which it would finish | start earliest"}};

double Score(const ClusterView& view, int job) {
  return view.Arrival(job);
}

}  // namespace

SchedulerInfo ConservativeInfo() {
  return {"conservative",
          "backfilling with a reservation for every queued job",
          "Mu'alem and Feitelson, IEEE TPDS 12(6), 2001",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            QueueRuleOptions options;
            options.backfill = Backfill::kConservative;
            options.reserve_by_start = params.Choice("reserve", {"finish", "start"}) == 1;
            return std::make_unique<QueueRule>(ScoreRule{Score, Knowledge::kNone, /*moves=*/false}, options);
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
