// Static priority: the heaviest weight first, then arrival order. Running jobs are never disturbed.
#include <algorithm>

#include "baselines/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kPlaceParam, kOvertakeParam};

class Priority final : public QueueRule {
 public:
  using QueueRule::QueueRule;
  Knowledge knowledge() const override { return Knowledge::kNone; }

 private:
  void Order(const ClusterView& view, std::vector<int>& queue) override {
    std::sort(queue.begin(), queue.end(), [&view](int a, int b) {
      return view.Weight(a) != view.Weight(b) ? view.Weight(a) > view.Weight(b) : a < b;
    });
  }
};

}  // namespace

SchedulerInfo PriorityInfo() {
  return {"priority",
          "heaviest weight first, then arrival; non-preemptive",
          "static-priority (head-of-line) queueing, Cobham 1954",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const TypeChoice place = ReadTypeChoice(params);
            return std::make_unique<Priority>(place, params.Bool(kOvertakeParam.name));
          },
          /*claims=*/{.types = true, .jobs = true, .times = true}};
}

}  // namespace berth
