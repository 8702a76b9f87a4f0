// Two levels, any scheduler on either: the outer one decides over all jobs, and what it would give a tenant's
// jobs, type by type, is the tenant's part of the cluster; the inner one, of which each tenant has its own,
// decides which of the tenant's jobs use it. So hierarchical(outer=drf,inner=srpt) is dominant resource
// fairness between tenants and shortest remaining time within each.
//
// An inner scheduler that does not preempt may hold more than its tenant's part until jobs end; the others
// then have less (shares.hpp). Where nothing at all would run, since no inner one has use for its part, the
// outer decision stands: the cluster never idles while the outer one would run something.
#include <algorithm>
#include <numeric>

#include "baselines/composition/shares.hpp"
#include "baselines/fairness/decayed_usage.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kHierarchicalParams[] = {
    {"outer", "fair_share", "the scheduler whose decision says how much each tenant has"},
    {"inner", "srpt", "the scheduler that each tenant has for its jobs"},
};
constexpr const char* kWhatOuter = "hierarchical: parameter 'outer'";
constexpr const char* kWhatInner = "hierarchical: parameter 'inner'";

class Hierarchical final : public Scheduler {
 public:
  Hierarchical(const std::string& outer, const std::string& inner) : outer_(kWhatOuter, outer) {
    inner_.emplace_back(kWhatInner, inner);
  }
  Knowledge knowledge() const override { return std::max(outer_.knowledge(), inner_.front().knowledge()); }
  bool resizes() const override { return outer_.resizes() || inner_.front().resizes(); }

  void Reset(const ClusterView& view) override {
    while (inner_.size() < U(NumTenants(view))) inner_.push_back(inner_.front().Another());
    while (inner_.size() > U(NumTenants(view))) inner_.pop_back();
    outer_.Reset(view);
    for (Inner& inner : inner_) inner.Reset(view);
    order_.resize(inner_.size());
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    proposed_.Clear();
    outer_.DecideAll(view, proposed_);
    CountParts(view);
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return Excess(held_[U(a)], part_[U(a)]) > Excess(held_[U(b)], part_[U(b)]);
    });
    shares_.Begin(view);
    int running = static_cast<int>(view.running().size());
    for (int tenant : order_) {
      running += shares_.Ask(view, inner_[U(tenant)], jobs_[U(tenant)], held_[U(tenant)], part_[U(tenant)],
                             decision);
    }
    decision.wake_at = std::min(decision.wake_at, proposed_.wake_at);
    for (const Command& command : proposed_.commands) {
      if (command.kind == CommandKind::kReject) decision.commands.push_back(command);
    }
    if (running > 0 || proposed_.commands.empty()) return;
    decision = proposed_;
    for (Inner& inner : inner_) inner.Forget(view);
  }

 private:
  // What tenants hold, what they would hold after the outer decision, and whose jobs are left to them.
  void CountParts(const ClusterView& view) {
    held_.assign(inner_.size(), std::vector<int>(U(view.num_types()), 0));
    jobs_.assign(inner_.size(), {});
    for (int job : view.running()) {
      held_[U(view.TenantOf(job))][U(view.TypeOf(job))] += HeldInService(view, job);
    }
    part_ = held_;
    rejected_.clear();
    for (const Command& command : proposed_.commands) {
      auto& part = part_[U(view.TenantOf(command.job))];
      if (view.IsRunning(command.job)) part[U(view.TypeOf(command.job))] -= HeldInService(view, command.job);
      if (command.kind == CommandKind::kStart || command.kind == CommandKind::kMove)
        part[U(command.type)] += WidthOf(view, command);
      if (command.kind == CommandKind::kReject) rejected_.push_back(command.job);
      shares_.RefusePack(command);
    }
    for (int job : view.active()) {
      if (std::find(rejected_.begin(), rejected_.end(), job) == rejected_.end())
        jobs_[U(view.TenantOf(job))].push_back(job);
    }
  }

  Inner outer_;
  std::vector<Inner> inner_;  // [tenants]
  Shares shares_{"hierarchical"};
  Decision proposed_;
  std::vector<std::vector<int>> held_, part_;  // [tenants, G] GPUs
  std::vector<std::vector<int>> jobs_;         // [tenants] there, and not rejected
  std::vector<int> order_, rejected_;
};

}  // namespace

SchedulerInfo HierarchicalInfo() {
  return {"hierarchical",
          "tenants over jobs: an outer scheduler sizes each tenant's part, an inner one uses it; both's cost",
          "Berth: hierarchical scheduling, Goyal, Guo & Vin, OSDI 1996, with any two schedulers",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kHierarchicalParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const std::string outer = params.Text("outer");
            return std::make_unique<Hierarchical>(outer, params.Text("inner"));
          }};
}

}  // namespace berth
