#include <algorithm>
#include <utility>
#include <vector>

#include "baselines/queue/queue_rule.hpp"

namespace berth {
namespace {

class PreemptiveQueue final : public Scheduler {
 public:
  PreemptiveQueue(const ScoreRule& rule, TypeChoice place, bool overtake)
      : rule_(rule), place_(place), overtake_(overtake) {}
  Knowledge knowledge() const override { return rule_.knowledge; }
  bool goes_by_requests() const override { return !rule_.reads_work; }

  void Decide(const ClusterView& view, Decision& decision) override {
    order_.clear();
    for (int job : view.active()) order_.push_back({rule_.score(view, job), job});
    std::sort(order_.begin(), order_.end());
    plan_.Begin(view, /*preemptive=*/true);
    KeepOnLeaving(view, plan_);
    bool blocked = false;
    for (const auto& [score, job] : order_) {
      if (plan_.total_room() == 0) break;
      if (plan_.Placed(job)) continue;
      const int here = view.TypeOf(job);
      if (here >= 0 && FitsOrStays(view, plan_, job, here)) {
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
    OfferIdle(view, plan_, order_, decision);
  }

 private:
  ScoreRule rule_;
  TypeChoice place_;
  bool overtake_;
  Plan plan_;
  std::vector<std::pair<double, int>> order_;  // (score, job)
};

}  // namespace

std::unique_ptr<Scheduler> MakePreemptiveQueue(const ScoreRule& rule, TypeChoice place, bool overtake) {
  return std::make_unique<PreemptiveQueue>(rule, place, overtake);
}

}  // namespace berth
