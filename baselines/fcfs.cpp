// First come, first served: strict arrival order, no overtaking. With a queue limit it is the loss system
// M/M/c/K of queueing theory (K = GPUs + limit).
#include <limits>
#include <string>

#include "baselines/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kQueueLimitParam = {
    "queue_limit", "none",
    "most jobs that wait, from 0: an arrival that finds as many is rejected; none = no limit"};
constexpr ParamInfo kParams[] = {kPlaceParam, kQueueLimitParam};

int ReadQueueLimit(Params& params) {
  const std::string text = params.Text(kQueueLimitParam.name);
  if (text == "none") return QueueRule::kNoLimit;
  const std::string what = "fcfs: parameter 'queue_limit' (none, or how many may wait)";
  const long long limit = ParseInteger(text, what);
  if (limit < 0 || limit > std::numeric_limits<int>::max()) {
    throw Error(Join(what, ": expected 0 or more, found ", text));
  }
  return static_cast<int>(limit);
}

class Fcfs final : public QueueRule {
 public:
  Fcfs(TypeChoice place, int queue_limit) : QueueRule(place, /*overtake=*/false, queue_limit) {}
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
            const TypeChoice place = ReadTypeChoice(params);
            return std::make_unique<Fcfs>(place, ReadQueueLimit(params));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
