// Dynamic equipartition: all jobs as equal a number of GPUs as they can use, blind to sizes (McCann, Vaswani
// & Zahorjan, ACM TOCS 11(2), 1993). First every job its least, in order of arrival; then again and again who
// has fewest goes to its next width.
#include <algorithm>
#include <vector>

#include "baselines/elastic/width_plan.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

class EqualShare final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kNone; }
  bool resizes() const override { return true; }

  void Decide(const ClusterView& view, Decision& decision) override {
    plan_.Begin(view);
    jobs_.clear();
    const auto more = [this](int a, int b) {  // fewest GPUs first, then in order of arrival
      return plan_.WidthOf(a) != plan_.WidthOf(b) ? plan_.WidthOf(a) > plan_.WidthOf(b) : a > b;
    };
    for (int job : view.active()) {
      if (plan_.Place(view, job)) jobs_.push_back(job);
    }
    std::make_heap(jobs_.begin(), jobs_.end(), more);
    while (!jobs_.empty()) {
      std::pop_heap(jobs_.begin(), jobs_.end(), more);
      const int job = jobs_.back();
      const int width = Next(view, job);
      if (width > 0) {
        plan_.Widen(view, job, width);
        std::push_heap(jobs_.begin(), jobs_.end(), more);
      } else {
        jobs_.pop_back();
      }
    }
    plan_.MoveOffLeaving(view, decision);
    plan_.Emit(view, decision);
  }

 private:
  // The next width that is faster, in the room that there is; 0 = none.
  int Next(const ClusterView& view, int job) const {
    const int type = plan_.TypeOf(job), from = plan_.WidthOf(job);
    const double rate = view.RateAt(job, type, from);
    const auto faster = [&](int width) {
      return plan_.MayWiden(view, job, width) && view.RateAt(job, type, width) > rate;
    };
    if (const int next = plan_.Next(view, job); next <= view.MaxGang(job) && faster(next)) return next;
    for (int width = from + 1; width <= plan_.Reach(view, job); ++width) {
      if (faster(width)) return width;
    }
    return 0;
  }

  WidthPlan plan_;
  std::vector<int> jobs_;  // heap
};

}  // namespace

SchedulerInfo EqualShareInfo() {
  return {"equal_share",
          "elastic: every job as equal a number of GPUs as it can use; O(GPUs log n)",
          "dynamic equipartition, McCann, Vaswani & Zahorjan, TOCS 1993",
          "",
          Knowledge::kNone,
          /*preemptive=*/true,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<EqualShare>(); }};
}

}  // namespace berth
