// The Gittins index policy on GPUs: whoever is likeliest to end soonest for the service it would take goes
// first. Blind: it knows how the sizes of jobs are distributed, not the size of any one. With one GPU and
// jobs that are all there it is the best blind policy for the mean completion time (Gittins 1979).
#include "baselines/preemptive/service_distribution.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kGittinsParams[] = {
    kServicesParam,
    kDeltaParam,
    kSliceParam,
};

class Gittins final : public Scheduler {
 public:
  Gittins(const LearnedServices& services, double slice) : services_(services), slice_(slice) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  void Reset(const ClusterView&) override { services_.Reset(); }

  void Decide(const ClusterView& view, Decision& decision) override {
    services_.Learn(view);
    order_.clear();
    for (int job : view.active()) order_.push_back({-services_.Index(AttainedGpuSeconds(view, job)), job});
    plan_.Begin(view, /*preemptive=*/true);
    FillByRank(view, order_, plan_);
    plan_.Emit(view, decision);
    OfferIdle(view, plan_, order_, decision);
    if (slice_ > 0.0 && plan_.placed().size() < order_.size())
      decision.wake_at = std::min(decision.wake_at, view.now() + slice_);
  }

 private:
  LearnedServices services_;
  double slice_;
  Plan plan_;
  Ranking order_;
};

}  // namespace

SchedulerInfo GittinsInfo() {
  return {"gittins",
          "preemptive: highest Gittins index of attained GPU-seconds first; O(n (log n + sizes seen))",
          "Gittins 1979; on GPUs: Gu et al., Tiresias, NSDI 2019, §4.2",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kGittinsParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const LearnedServices services(params);
            return std::make_unique<Gittins>(services, ReadSlice(params));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
