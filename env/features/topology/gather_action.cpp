// A job on as few nodes of a type as can be had. Which they are is settled once the plan is complete:
// gathered jobs choose among the GPUs that no job of the plan stays on, largest gang first, and a spread one
// that would stay moves where that takes fewer nodes.
#include <algorithm>
#include <utility>

#include "env/base/index.hpp"
#include "env/features/topology/placement.hpp"
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
    return view.Rate(job, column.type) > 0.0 ? plan.Takes(view, job, column.type, view.Gang(job)) : kNever;
  }
  void Put(const ClusterView& view, Plan& plan, int job, const ActionColumn& column) override {
    plan.PutOn(view, job, column.type, view.Gang(job));
    gathered_.push_back(job);
  }
  bool Runs() const override { return true; }

  void Close(const ClusterView& view, const Plan& plan, Decision& decision) override {
    if (gathered_.empty()) return;
    const PlacementState& state = *view.Find<PlacementState>();
    FreeNodes free = state.free;
    idle_.assign(U(view.num_gpus()), 0);
    for (int d = 0; d < view.num_gpus(); ++d) idle_[U(d)] = view.DeviceFree(d);
    for (int d : plan.withheld()) {
      if (std::exchange(idle_[U(d)], 0) != 0) free.Take(state.layout->NodeOf(d), 1, NodeDemand{});
    }
    command_of_.assign(U(view.num_jobs()), -1);
    for (std::size_t i = 0; i < decision.commands.size(); ++i) {
      const Command& command = decision.commands[i];
      command_of_[U(command.job)] = static_cast<int>(i);
      if (view.IsRunning(command.job)) Leave(view, state, command.job, free);
    }
    std::stable_sort(gathered_.begin(), gathered_.end(),
                     [&](int a, int b) { return view.Gang(a) > view.Gang(b); });
    for (int job : gathered_) {
      const int type = plan.TypeOf(job), gang = plan.WidthOf(job);
      const bool stays = command_of_[U(job)] < 0;
      if (plan.GuestOf(job) >= 0 || view.GpuMilli(job) < 1000) continue;  // who shares a GPU stays with it
      if (stays && (state.Consolidated(type, view.Devices(job)) || view.Partner(job) >= 0)) continue;
      // GPUs that take no new job are on top of the plan's room: who leaves them takes more of it.
      if (stays && !InService(view, job)) continue;
      const int nodes = stays ? state.ExtentOf(view.Devices(job)).nodes : gang + 1;
      if (stays) Leave(view, state, job, free);
      const bool fits =
          ChooseNodes(PlacementRule::kConsolidate, free, type, gang, (*state.demand)[U(job)], shares_);
      if (!fits || static_cast<int>(shares_.size()) >= nodes) {
        if (stays) Stay(view, state, job, free);
        continue;
      }
      Name(view, state, job, free, stays, decision);
    }
  }

 private:
  static bool InService(const ClusterView& view, int job) {
    const auto devices = view.Devices(job);
    return std::all_of(devices.begin(), devices.end(), [&](int d) { return view.InService(d); });
  }
  void Leave(const ClusterView& view, const PlacementState& state, int job, FreeNodes& free) {
    if (view.GpuMilli(job) < 1000) return;  // others may hold the rest
    const int partner = view.Partner(job);
    if (partner >= 0 && idle_[U(view.Devices(job).front())] == 0 && command_of_[U(partner)] < 0) return;
    for (int d : view.Devices(job)) {
      if (!view.InService(d) || idle_[U(d)] != 0) continue;
      idle_[U(d)] = 1;
      free.Take(state.layout->NodeOf(d), -1, (*state.demand)[U(job)]);
    }
  }
  void Stay(const ClusterView& view, const PlacementState& state, int job, FreeNodes& free) {
    for (int d : view.Devices(job)) {
      if (idle_[U(d)] == 0) continue;
      idle_[U(d)] = 0;
      free.Take(state.layout->NodeOf(d), 1, (*state.demand)[U(job)]);
    }
  }
  // The lowest idle devices of the chosen nodes.
  void Name(const ClusterView& view, const PlacementState& state, int job, FreeNodes& free, bool moves,
            Decision& decision) {
    devices_.clear();
    for (const NodeShare& share : shares_) {
      int left = share.members;
      const int first = state.layout->first_device[U(share.node)];
      for (int d = first; d < first + state.layout->Size(share.node) && left > 0; ++d) {
        if (idle_[U(d)] == 0) continue;
        idle_[U(d)] = 0;
        devices_.push_back(d);
        --left;
      }
      free.Take(share.node, share.members, (*state.demand)[U(job)]);
    }
    if (moves) {
      decision.Move(job, view.TypeOf(job), devices_);
      decision.commands.back().width = static_cast<int>(devices_.size());
      return;
    }
    Command& command = decision.commands[U(command_of_[U(job)])];
    command.devices_begin = static_cast<int>(decision.devices.size());
    command.devices_count = static_cast<int>(devices_.size());
    decision.devices.insert(decision.devices.end(), devices_.begin(), devices_.end());
  }

  std::vector<int> gathered_, devices_, command_of_;
  std::vector<char> idle_;  // [D] for jobs without devices of their own
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
