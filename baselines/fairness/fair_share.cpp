// Fair share with decayed usage, as Slurm defines its classic factor: the queue goes by F = 2^(-U/S) of a
// job's tenant, the largest first, then by arrival. Strict unless overtake=true. With one tenant it is fcfs.
#include <limits>

#include "baselines/fairness/decayed_usage.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kFairShareParams[] = {
    {"half_life", "604800",
     "s after which usage counts half (Slurm: PriorityDecayHalfLife, 7 days); 0 = never"},
    kOvertakeParam,
};

class FairShare final : public Scheduler {
 public:
  FairShare(double half_life, bool overtake) : usage_(half_life), overtake_(overtake) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  void Reset(const ClusterView& view) override { usage_.Reset(view); }

  void Decide(const ClusterView& view, Decision& decision) override {
    usage_.Observe(view);
    plan_.Begin(view, /*preemptive=*/false);
    if (view.waiting().empty() || plan_.total_room() == 0) return;
    const std::vector<double>& factors = usage_.Factors(view);
    order_.clear();
    for (int job : view.waiting()) {
      order_.push_back({-factors[static_cast<std::size_t>(view.TenantOf(job))], job});
    }
    StartByRank(view, order_, overtake_, plan_);
    plan_.Emit(view, decision);
  }

 private:
  DecayedUsage usage_;
  bool overtake_;
  Plan plan_;
  Ranking order_;
};

}  // namespace

SchedulerInfo FairShareInfo() {
  return {"fair_share",
          "by Slurm's fair-share factor 2^(-U/S) of the tenant's decayed usage, then arrival; O(n log n)",
          "Slurm, priority/multifactor, classic fair-share algorithm",
          "",
          Knowledge::kBlind,
          /*preemptive=*/false,
          kFairShareParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const double half_life = params.Number("half_life", 0.0, 1e15);
            return std::make_unique<FairShare>(half_life > 0.0 ? half_life : kNever, params.Bool("overtake"));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
