// A job on as few nodes of a type as can be had. Which they are is settled once the plan is complete:
// gathered jobs choose among the GPUs that no job of the plan stays on, largest gang first, and a spread one
// that would stay moves where that takes fewer nodes.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/topology/settled_nodes.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

class Gather final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<TopologySettings>("gather", view);
    for (int type = 0; type < view.num_types(); ++type) columns.push_back({type, 0});
  }
  void Open(const ClusterView&, Plan&) override { gathered_.clear(); }
  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    if (plan.Placed(job)) return Legality::kNo;
    return plan.FitsOn(view, job, column.type, view.Gang(job)) ? Legality::kYes : Legality::kNotYet;
  }
  int RoomNeeded(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    return view.Rate(job, column.type) > 0.0 ? plan.Takes(view, job, column.type, view.Gang(job)) : kNeverFits;
  }
  void Put(const ClusterView& view, Plan& plan, int job, const ActionColumn& column) override {
    plan.PutOn(view, job, column.type, view.Gang(job));
    gathered_.push_back(job);
  }
  bool Runs() const override { return true; }

  void Close(const ClusterView& view, const Plan& plan, Decision& decision) override {
    if (gathered_.empty()) return;
    settled_.Begin(view, plan, decision);
    const PlacementState& state = settled_.state();
    std::stable_sort(gathered_.begin(), gathered_.end(),
                     [&](int a, int b) { return view.Gang(a) > view.Gang(b); });
    for (int job : gathered_) {
      const int type = plan.TypeOf(job), gang = plan.WidthOf(job);
      const bool stays = settled_.CommandOf(job) < 0;
      if (plan.GuestOf(job) >= 0 || view.GpuMilli(job) < 1000) continue;  // who shares a GPU stays with it
      if (stays && (state.Consolidated(type, view.Devices(job)) || view.Partner(job) >= 0)) continue;
      // GPUs that take no new job are on top of the plan's room: who leaves them takes more of it.
      if (stays && !InService(view, job)) continue;
      const int nodes = stays ? state.ExtentOf(view.Devices(job)).nodes : gang + 1;
      if (stays) settled_.Leave(view, job);
      const bool fits = ChooseNodes(PlacementRule::kConsolidate, settled_.free(), type, gang,
                                    settled_.DemandOf(job), shares_);
      if (!fits || static_cast<int>(shares_.size()) >= nodes) {
        if (stays) settled_.Stay(view, job);
        continue;
      }
      settled_.Name(view, job, shares_, decision);
    }
  }

 private:
  static bool InService(const ClusterView& view, int job) {
    const auto devices = view.Devices(job);
    return std::all_of(devices.begin(), devices.end(), [&](int d) { return view.InService(d); });
  }

  std::vector<int> gathered_;
  SettledNodes settled_;
  std::vector<NodeShare> shares_;
};

}  // namespace

ActionInfo GatherAction() {
  return {.name = "gather",
          .summary = "a job on a GPU type, on as few nodes as can be had; one that runs spread moves",
          .source = "consolidation and migration of gangs: Gandiva, Xiao et al., OSDI 2018",
          .make = MakeAction<Gather>};
}

}  // namespace berth
