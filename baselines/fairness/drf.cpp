// Dominant resource fairness over GPU types: every type is a resource, a tenant's dominant share is the
// largest part of any type that its jobs hold, and the tenant whose share (over its weight) is least starts
// its next job, in arrival order, on the fastest type with room. As in the paper's algorithm filling ends
// when the poorest tenant's next job does not fit; overtake=true goes on with the others.
#include <algorithm>

#include "baselines/fairness/decayed_usage.hpp"
#include "baselines/fairness/dominant_shares.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/sim/in_service.hpp"
#include "env/sim/plan.hpp"

namespace berth {
namespace {

constexpr ParamInfo kDrfParams[] = {
    {"overtake", "false", "true: a tenant whose next job does not fit is passed over; false: filling ends"},
};

class Drf final : public Scheduler {
 public:
  explicit Drf(bool overtake) : overtake_(overtake) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }

  void Decide(const ClusterView& view, Decision& decision) override {
    plan_.Begin(view, /*preemptive=*/false);
    if (view.waiting().empty() || plan_.total_room() == 0) return;
    DominantShares shares = Held(view);
    std::vector<std::vector<int>> queue(U(NumTenants(view)));  // by tenant, the next job last
    for (auto job = view.waiting().rbegin(); job != view.waiting().rend(); ++job) {
      queue[U(view.TenantOf(*job))].push_back(*job);
    }
    std::vector<int> candidates;
    for (int tenant = 0; tenant < NumTenants(view); ++tenant) {
      if (!queue[U(tenant)].empty()) candidates.push_back(tenant);
    }
    while (!candidates.empty() && plan_.total_room() > 0) {
      const int tenant = shares.Poorest(candidates);
      auto& its = queue[U(tenant)];
      const int type = FastestFit(view, plan_, its.back());
      if (type < 0 && !overtake_) break;
      if (type >= 0) {
        plan_.Put(view, its.back(), type);
        shares.Take(tenant, type, view.Gang(its.back()));
        its.pop_back();
      }
      if (type < 0 || its.empty()) std::erase(candidates, tenant);
    }
    plan_.Emit(view, decision);
  }

 private:
  static DominantShares Held(const ClusterView& view) {
    std::vector<double> capacity, weight;
    for (const GpuType& type : view.types()) capacity.push_back(type.count);
    for (int tenant = 0; tenant < NumTenants(view); ++tenant) weight.push_back(TenantWeight(view, tenant));
    DominantShares shares(std::move(capacity), std::move(weight));
    for (int job : view.running()) shares.Take(view.TenantOf(job), view.TypeOf(job), HeldGpus(view, job));
    return shares;
  }

  bool overtake_;
  Plan plan_;
};

}  // namespace

SchedulerInfo DrfInfo() {
  return {"drf",
          "dominant resource fairness between tenants, GPU types as resources; O(jobs started x tenants)",
          "Ghodsi et al., NSDI 2011, Algorithm 1",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kDrfParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Drf>(params.Bool("overtake"));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
