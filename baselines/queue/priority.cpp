// Static priority: the heaviest weight first, then arrival order. Running jobs are never disturbed, unless
// preemptive=true: then a heavier arrival takes the GPUs of lighter jobs, which go on later where they
// stopped (preemptive resume).
#include <algorithm>

#include "baselines/queue/queue_rule.hpp"
#include "baselines/schedulers.hpp"
#include "env/check.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPreemptiveParam = {
    "preemptive", "false", "true: lighter running jobs are stopped for heavier ones and resume later"};
constexpr ParamInfo kParams[] = {kPlaceParam, kOvertakeParam, kSemanticsParam, kBackfillParam,
                                 kPreemptiveParam};

double Score(const ClusterView& view, int job) {
  return -view.Weight(job);
}

// Plans anew from an empty cluster. A running job stays on its type while there is room for it: it is stopped
// or moved only by heavier ones, or by earlier ones of its weight that it overtook. Where nobody may
// overtake, a job that does not fit keeps lighter ones from starting, not from running on.
class PreemptivePriority final : public Scheduler {
 public:
  PreemptivePriority(TypeChoice place, bool overtake) : place_(place), overtake_(overtake) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }

  void Decide(const ClusterView& view, Decision& decision) override {
    jobs_.assign(view.active().begin(), view.active().end());
    std::sort(jobs_.begin(), jobs_.end(), [&view](int a, int b) {
      return view.Weight(a) != view.Weight(b) ? view.Weight(a) > view.Weight(b) : a < b;
    });
    plan_.Begin(view, /*preemptive=*/true);
    bool blocked = false;
    for (int job : jobs_) {
      if (plan_.total_room() == 0) break;
      const int here = view.TypeOf(job);
      if (here >= 0 && plan_.Fits(view, job, here)) {
        plan_.Keep(view, job);
        continue;
      }
      const int type = blocked ? -1 : ChooseType(view, plan_, job, place_);
      if (type >= 0) {
        plan_.Put(view, job, type);
      } else {
        blocked = !overtake_;
      }
    }
    plan_.Emit(view, decision);
  }

 private:
  TypeChoice place_;
  bool overtake_;
  Plan plan_;
  std::vector<int> jobs_;
};

}  // namespace

SchedulerInfo PriorityInfo() {
  return {"priority",
          "heaviest weight first, then arrival; non-preemptive unless told otherwise",
          "static-priority (head-of-line) queueing, Cobham 1954; preemptive resume, White & Christie 1958",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const QueueRuleOptions options = ReadQueueParams(params);
            const ScoreRule rule = {Score, Knowledge::kNone, /*moves=*/false};
            if (!params.Bool(kPreemptiveParam.name)) return std::make_unique<QueueRule>(rule, options);
            if (options.semantics == Semantics::kCommit || options.backfill != Backfill::kNone) {
              throw Error("preemptive=true: expected semantics=redecide and backfill=none with it");
            }
            return std::make_unique<PreemptivePriority>(options.place, options.overtake);
          },
          /*claims=*/{.types = true, .jobs = true, .times = true}};
}

}  // namespace berth
