// Two levels, any scheduler on either: the outer one decides over all jobs, and what it would give a tenant's
// jobs, type by type, is the tenant's part of the cluster; the inner one, of which each tenant has its own,
// decides which of the tenant's jobs use it. So hierarchical(outer=drf,inner=srpt) is dominant resource
// fairness between tenants and shortest remaining time within each.
//
// An inner scheduler that does not preempt may hold more than its tenant's part until jobs end; the others
// then have less. It is not shown jobs too large for the part; one that runs is stopped. Where nothing at all
// would run, since no inner one has use for its part, the outer decision stands: the cluster never idles
// while the outer one would run something.
#include <algorithm>
#include <numeric>

#include "baselines/composition/inner.hpp"
#include "baselines/fairness/decayed_usage.hpp"
#include "baselines/schedulers.hpp"
#include "env/check.hpp"

namespace berth {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

constexpr ParamInfo kParams[] = {
    {"outer", "fair_share", "the scheduler whose decision says how much each tenant has"},
    {"inner", "srpt", "the scheduler that each tenant has for its jobs"},
};
constexpr const char* kWho = "hierarchical";
constexpr const char* kWhatOuter = "hierarchical: parameter 'outer'";
constexpr const char* kWhatInner = "hierarchical: parameter 'inner'";

class Hierarchical final : public Scheduler {
 public:
  Hierarchical(const std::string& outer, std::string inner)
      : outer_(kWhatOuter, outer), inner_spec_(std::move(inner)) {
    inner_.emplace_back(kWhatInner, inner_spec_);
  }
  Knowledge knowledge() const override { return std::max(outer_.knowledge(), inner_.front().knowledge()); }

  void Reset(const ClusterView& view) override {
    while (inner_.size() < U(NumTenants(view))) inner_.emplace_back(kWhatInner, inner_spec_);
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
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return Excess(view, a) > Excess(view, b); });
    for (int type = 0; type < view.num_types(); ++type) left_[U(type)] = view.free_gpus()[U(type)];
    int running = static_cast<int>(view.running().size());
    for (int tenant : order_) running += Ask(view, tenant, decision);
    decision.wake_at = std::min(decision.wake_at, proposed_.wake_at);
    for (const Command& command : proposed_.commands) {
      if (command.kind == CommandKind::kReject) decision.commands.push_back(command);
    }
    if (running > 0 || proposed_.commands.empty()) return;
    decision = proposed_;
    for (Inner& inner : inner_) inner.Forget(view);
  }

 private:
  int& Held(int tenant, int type) { return held_[U(tenant) * left_.size() + U(type)]; }
  int& Part(int tenant, int type) { return part_[U(tenant) * left_.size() + U(type)]; }

  // What tenants hold, and what they would hold after the outer decision.
  void CountParts(const ClusterView& view) {
    left_.resize(U(view.num_types()));
    held_.assign(inner_.size() * left_.size(), 0);
    for (int job : view.running()) Held(view.TenantOf(job), view.TypeOf(job)) += view.Gang(job);
    part_ = held_;
    rejected_.clear();
    for (const Command& command : proposed_.commands) {
      const int tenant = view.TenantOf(command.job), gang = view.Gang(command.job);
      if (view.IsRunning(command.job)) Part(tenant, view.TypeOf(command.job)) -= gang;
      if (command.kind == CommandKind::kStart || command.kind == CommandKind::kMove)
        Part(tenant, command.type) += gang;
      if (command.kind == CommandKind::kReject) rejected_.push_back(command.job);
      RefusePack(kWho, command);
    }
  }

  // GPUs that a tenant holds beyond its part: who has to give is asked first.
  int Excess(const ClusterView& view, int tenant) {
    int excess = 0;
    for (int type = 0; type < view.num_types(); ++type) {
      excess += std::max(0, Held(tenant, type) - Part(tenant, type));
    }
    return excess;
  }

  // Somewhere in the part of `most_` GPUs.
  bool CanRun(const ClusterView& view, int job) const {
    for (int type = 0; type < view.num_types(); ++type) {
      if (view.Rate(job, type) > 0.0 && view.Gang(job) <= most_[U(type)]) return true;
    }
    return false;
  }

  // Appends what the tenant's scheduler decides; the change in the number of jobs that run.
  int Ask(const ClusterView& view, int tenant, Decision& decision) {
    Inner& inner = inner_[U(tenant)];
    inner.Begin(view);
    most_.clear();
    for (int type = 0; type < view.num_types(); ++type) {
      const int held = Held(tenant, type);
      most_.push_back(std::min(Part(tenant, type), held + left_[U(type)]));
      inner.Limit(type, most_.back(), std::max(0, most_.back() - held));
    }
    int change = 0;
    for (int job : view.active()) {
      if (view.TenantOf(job) != tenant) continue;
      if (CanRun(view, job)) {
        if (std::find(rejected_.begin(), rejected_.end(), job) == rejected_.end()) inner.Show(view, job);
      } else if (view.IsRunning(job)) {  // the part has shrunk below it
        decision.Stop(job);
        left_[U(view.TypeOf(job))] += view.Gang(job);
        --change;
      }
    }
    return change + inner.DecideWithin(view, kWho, left_, decision);
  }

  Inner outer_;
  std::string inner_spec_;
  std::vector<Inner> inner_;  // [tenants]
  Decision proposed_;
  std::vector<int> held_, part_;  // [tenants, G] GPUs
  std::vector<int> left_;         // [G] idle, once those asked so far have theirs
  std::vector<int> most_;         // [G] of the tenant that is asked
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
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const std::string outer = params.Text("outer");
            return std::make_unique<Hierarchical>(outer, params.Text("inner"));
          }};
}

}  // namespace berth
