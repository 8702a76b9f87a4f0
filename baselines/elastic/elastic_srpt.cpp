// Dynamic resource allocation for the mean: shortest remaining time first, each job on as many GPUs as speed
// it up. With linear speed-ups on one type that is SRPT on one fast machine, and so optimal (Schrage 1968);
// with concave ones it gives up throughput for order, where `optimus` does the opposite.
#include <algorithm>
#include <utility>
#include <vector>

#include "baselines/elastic/width_plan.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

class ElasticSrpt final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  bool resizes() const override { return true; }

  void Decide(const ClusterView& view, Decision& decision) override {
    plan_.Begin(view);
    order_.clear();
    for (int job : view.active()) {  // by the time on an empty cluster
      const Choice choice = Fastest(view, job);
      if (choice.rate > 0.0) order_.push_back({view.RemainingSteps(job) / choice.rate, job});
    }
    std::sort(order_.begin(), order_.end());
    for (const auto& [seconds, job] : order_) {
      if (plan_.WidthOf(job) > 0) continue;
      const Choice choice = Fastest(view, job);
      if (choice.rate > 0.0) plan_.Put(view, job, choice.type, choice.width);
    }
    plan_.MoveOffLeaving(view, decision);
    plan_.Emit(view, decision);
  }

 private:
  struct Choice {
    double rate = 0.0;
    int type = -1, width = 0;
  };
  // In the room that there is; ties: as it runs now, then the fewest GPUs.
  Choice Fastest(const ClusterView& view, int job) const {
    Choice best;
    const int here = view.TypeOf(job), held = view.Width(job);
    if (!AllInService(view, job) && WidthPlan::Takes(view, job, here, held) <= plan_.room(here))
      best = {view.RateAt(job, here, held), here, held};
    for (int type = 0; type < view.num_types(); ++type) {
      for (int width = view.MinGang(job); width <= std::min(view.MaxGang(job), plan_.room(type)); ++width) {
        const double rate = view.RateAt(job, type, width);
        const bool as_now = type == view.TypeOf(job) && width == view.Width(job);
        if (rate > best.rate || (rate > 0.0 && rate == best.rate && as_now)) best = {rate, type, width};
      }
    }
    return best;
  }

  WidthPlan plan_;
  std::vector<std::pair<double, int>> order_;  // (s, job)
};

}  // namespace

SchedulerInfo ElasticSrptInfo() {
  return {"elastic_srpt",
          "elastic: shortest remaining time first, each job as wide as speeds it up; O(n G widths)",
          "SRPT, Schrage 1968, over moldable jobs",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<ElasticSrpt>(); }};
}

}  // namespace berth
