// First come, first served: strict arrival order, no overtaking.
#include "baselines/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kPlaceParam};

class Fcfs final : public QueueRule {
 public:
  explicit Fcfs(TypeChoice place) : QueueRule(place, /*overtake=*/false) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }

 private:
  void Order(const ClusterView&, std::vector<int>&) override {}  // arrival order is what it is given
};

}  // namespace

SchedulerInfo FcfsInfo() {
  return {"fcfs",
          "first come, first served; strict order, no overtaking",
          "queueing textbook",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Fcfs>(ReadTypeChoice(params));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
