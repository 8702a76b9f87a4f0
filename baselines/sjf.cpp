// Shortest job first: by the remaining seconds on the job's fastest type. Running jobs are never disturbed.
#include <algorithm>

#include "baselines/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kPlaceParam, kOvertakeParam};

class Sjf final : public QueueRule {
 public:
  using QueueRule::QueueRule;
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

 private:
  void Order(const ClusterView& view, std::vector<int>& queue) override {
    const auto shortest = [&view](int job) { return view.RemainingSteps(job) / view.BestRate(job); };
    std::sort(queue.begin(), queue.end(), [&shortest](int a, int b) {
      const double x = shortest(a), y = shortest(b);
      return x != y ? x < y : a < b;
    });
  }
};

}  // namespace

SchedulerInfo SjfInfo() {
  return {"sjf",
          "shortest remaining time on its fastest type first; non-preemptive",
          "shortest-processing-time rule, Smith 1956",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const TypeChoice place = ReadTypeChoice(params);
            return std::make_unique<Sjf>(place, params.Bool(kOvertakeParam.name));
          },
          /*claims=*/{.types = true, .jobs = true, .times = true}};
}

}  // namespace berth
