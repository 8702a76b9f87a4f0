// A job that comes to a GPU type, on the nodes that a rule chooses by what is left there. Whoever is placed
// later sees what it took. The devices are named once the plan is complete, in the order of choice, since
// only then is known whose GPUs are given back; in a plan that stops nobody they are those that were seen.
//
// Who runs on the type stays where it is (`start`), or is moved together (`gather`).
#include <algorithm>
#include <array>
#include <optional>

#include "env/base/index.hpp"
#include "env/features/topology/settled_nodes.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

constexpr int kNodeWays = 4;  // NodeWay

constexpr ChannelInfo kPlaceColumn[] = {
    {"fullest", "1 = the fullest node that holds the gang, or as few as can be had", 0, 1},
    {"emptiest", "1 = the emptiest node that holds it, or as few as can be had", 0, 1},
    {"scraps", "1 = what is left on the fullest nodes, on as many as that takes", 0, 1},
    {"rack", "1 = as few nodes as can be had of the rack with most room", 0, 1},
};
constexpr ChannelInfo kPlacePair[] = {
    {"there", "1 = the job would come to the type, and has room without anybody's leaving", 0, 1},
    {"together", "the fewest nodes that the gang can be on, over those that it would be on", 0, 1},
    {"speed", "of its rate on the fewest nodes, what it would have there", 0, 1},
    {"racks", "1 over the racks that it would be in", 0, 1},
    {"left", "GPUs that would be left idle on its nodes, over all of those nodes", 0, 1},
    {"opens", "share of its nodes on which nothing is", 0, 1},
};

class PlaceJob final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<TopologySettings>("place", view);
    const ClusterLayout& layout = *view.Find<PlacementState>()->layout;
    for (int type = 0; type < view.num_types(); ++type) {
      const int first = layout.first_node[U(type)], last = layout.first_node[U(type) + 1];
      const bool racks = last > first && layout.rack_of[U(first)] != layout.rack_of[U(last - 1)];
      for (int way = 0; way < kNodeWays; ++way) {
        if (way != static_cast<int>(NodeWay::kRack) || racks) columns.push_back({type, way});
      }
    }
  }
  void Open(const ClusterView& view, Plan& /*plan*/) override {
    wishes_.clear();
    Forget(view);
  }

  void WriteColumn(const ClusterView& /*view*/, const ActionColumn& column, float* f) override {
    f[column.level] = 1.0F;
  }
  void WritePair(const ClusterView& view, const Plan& plan, int job, const ActionColumn& column,
                 float* f) override {
    if (column.level < 0 || !Comes(view, plan, job, column.type)) return;
    Follow(view, plan);
    const Seen seen = SeenBy(view, job, column);
    std::copy(seen.begin(), seen.end(), f);
    if (f[0] == 0.0F) return;
    const Extent extent{static_cast<int>(f[1]), static_cast<int>(f[3])};
    const ClusterLayout& layout = *view.Find<PlacementState>()->layout;
    f[1] = static_cast<float>(layout.FewestNodes(column.type, view.Gang(job))) / f[1];
    f[2] = static_cast<float>(SpreadFactor(view, job, column.type, view.Gang(job), extent));
    f[3] = 1.0F / f[3];
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    if (!Comes(view, plan, job, column.type)) return Legality::kNo;
    return plan.FitsOn(view, job, column.type, view.Gang(job)) ? Legality::kYes : Legality::kNotYet;
  }
  int RoomNeeded(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    if (!Comes(view, plan, job, column.type)) return kNeverFits;
    return plan.Takes(view, job, column.type, view.Gang(job));
  }
  void Put(const ClusterView& view, Plan& plan, int job, const ActionColumn& column) override {
    Follow(view, plan);
    Take(view, job, column.type, Way(column));
    plan.PutOn(view, job, column.type, view.Gang(job));
    wishes_.push_back({job, Way(column)});
  }
  bool Runs() const override { return true; }

  // Explicit devices come before those that the cluster chooses, so who named none takes what is left.
  void Close(const ClusterView& view, const Plan& plan, Decision& decision) override {
    if (wishes_.empty()) return;
    settled_.Begin(view, plan, decision);
    for (const auto& [job, way] : wishes_) {
      const int type = plan.TypeOf(job), gang = plan.WidthOf(job);
      if (ChooseNodes(way, settled_.free(), type, gang, settled_.DemandOf(job), shares_))
        settled_.Name(view, job, shares_, decision);
    }
  }

 private:
  struct Wish {
    int job;
    NodeWay way;
  };
  using Seen = std::array<float, std::size(kPlacePair)>;  // of `together` and `racks` how many
  struct Known {
    int gang;
    ActionColumn column;
    Seen seen;
  };

  static NodeWay Way(const ActionColumn& column) { return static_cast<NodeWay>(column.level); }
  static const NodeDemand& DemandOf(const ClusterView& view, int job) {
    return (*view.Find<PlacementState>()->demand)[U(job)];
  }
  static bool Comes(const ClusterView& view, const Plan& plan, int job, int type) {
    return !plan.Placed(job) && view.GpuMilli(job) == 1000 && view.Rate(job, type) > 0.0 &&
           !(view.IsRunning(job) && view.TypeOf(job) == type);
  }
  // What the plan keeps from jobs, and who leaves for another type; who it has not spoken of is taken to
  // stay.
  void Follow(const ClusterView& view, const Plan& plan) {
    if (withheld_ == plan.withheld().size() && placed_ == plan.placed().size()) return;
    // A device that is withheld may be one that was chosen: those who chose choose again.
    const bool again = withheld_ < plan.withheld().size() && !wishes_.empty();
    if (again) Forget(view);
    const ClusterLayout& layout = *view.Find<PlacementState>()->layout;
    for (; withheld_ < plan.withheld().size(); ++withheld_) {
      const int d = plan.withheld()[withheld_];
      if (view.DeviceFree(d)) seen_->Take(layout.NodeOf(d), 1, NodeDemand{});
    }
    for (; placed_ < plan.placed().size(); ++placed_) {
      const int job = plan.placed()[placed_];
      if (!view.IsRunning(job) || plan.TypeOf(job) == view.TypeOf(job)) continue;
      if (view.GpuMilli(job) < 1000 || view.Partner(job) >= 0) continue;  // others may stay there
      for (int d : view.Devices(job)) {
        if (view.InService(d)) seen_->Take(layout.NodeOf(d), -1, DemandOf(view, job));
      }
    }
    known_.clear();
    for (const Wish& wish : wishes_) {
      if (again) Take(view, wish.job, plan.TypeOf(wish.job), wish.way);
    }
  }
  void Forget(const ClusterView& view) {
    seen_ = view.Find<PlacementState>()->free;
    placed_ = withheld_ = 0;
    known_.clear();
  }
  void Take(const ClusterView& view, int job, int type, NodeWay way) {
    const NodeDemand& demand = DemandOf(view, job);
    if (!ChooseNodes(way, *seen_, type, view.Gang(job), demand, shares_)) return;
    for (const NodeShare& share : shares_) seen_->Take(share.node, share.members, demand);
    known_.clear();
  }
  Seen SeenBy(const ClusterView& view, int job, const ActionColumn& column) {
    const int gang = view.Gang(job);
    const bool shared = seen_->left.empty();  // nodes differ for two jobs by their gangs alone
    for (const Known& known : known_) {
      if (shared && known.gang == gang && known.column.type == column.type &&
          known.column.level == column.level) {
        return known.seen;
      }
    }
    Seen seen{};
    const ClusterLayout& layout = *view.Find<PlacementState>()->layout;
    if (ChooseNodes(Way(column), *seen_, column.type, gang, DemandOf(view, job), shares_)) {
      int left = 0, all = 0, opened = 0;
      racks_.clear();
      for (const NodeShare& share : shares_) {
        const int idle = seen_->rooms.Idle(share.node), size = layout.Size(share.node);
        left += idle - share.members, all += size, opened += idle == size;
        racks_.push_back(layout.rack_of[U(share.node)]);
      }
      std::sort(racks_.begin(), racks_.end());
      racks_.erase(std::unique(racks_.begin(), racks_.end()), racks_.end());
      const auto nodes = static_cast<float>(shares_.size());
      seen = {1.0F,
              nodes,
              0.0F,
              static_cast<float>(racks_.size()),
              static_cast<float>(left) / static_cast<float>(all),
              static_cast<float>(opened) / nodes};
    }
    if (shared) known_.push_back({gang, column, seen});
    return seen;
  }

  std::vector<Wish> wishes_;               // in the order of choice
  std::optional<FreeNodes> seen_;          // as things stand, less what was chosen
  std::size_t placed_ = 0, withheld_ = 0;  // of the plan's, that it has followed
  std::vector<Known> known_;
  SettledNodes settled_;
  std::vector<NodeShare> shares_;  // scratch
  std::vector<int> racks_;         // scratch
};

}  // namespace

ActionInfo PlaceAction() {
  return {.name = "place",
          .summary =
              "a job that comes to a GPU type, on the fullest or emptiest node, on what others left or in "
              "the rack with most room",
          .source = "best and worst fit, Johnson et al. 1974",
          .column = kPlaceColumn,
          .pair = kPlacePair,
          .make = MakeAction<PlaceJob>,
          .on_request = true};
}

}  // namespace berth
