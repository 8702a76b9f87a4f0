// An idle GPU in another layout. Idle GPUs of one product and layout are alike: one row stands for them, and
// the command takes the first.
//
// Offered is only what helps: a layout in which a job that waits would run faster, or they all would in sum.
// On a GPU that nothing has used since it got its layout only the sum counts, which grows with each change:
// so GPUs do not change for ever while the same jobs wait and nobody starts.
#include <algorithm>
#include <set>

#include "env/base/index.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

constexpr int kMostRows = 8;               // kinds of idle GPUs; beyond them the rarest are not offered
constexpr std::size_t kMostWaiting = 16;   // that wait and are looked at
constexpr double kLeastDifference = 1e-9;  // a difference
constexpr double kWell = 0.9;              // of its best rate: a job that needs no more of a GPU

constexpr ChannelInfo kLayoutColumn[] = {
    {"slices", "slices of the layout / 7; 0 = the whole GPU", 0, 1},
    {"largest", "compute of the largest slice over the GPU's", 0, 1},
};
constexpr ChannelInfo kLayoutRow[] = {
    {"is_layout", "1 = the row is idle GPUs of one layout", 0, 1},
    {"idle", "how many, over the product's GPUs", 0, 1},
    {"slices", "slices that each has now / 7; 0 = it is whole", 0, 1},
};
constexpr ChannelInfo kLayoutPair[] = {
    {"serves", "what the first waiting jobs would have of their best rates in the layout, summed, / 7", 0, 1},
    {"gains", "that, less what they have in the present one", -1, 1},
    {"first", "what the first of them would have of its best rate", 0, 1},
    {"whole", "share of them that would run at nine tenths of their best rate or more, if alone", 0, 1},
};

// What a layout has for the jobs that wait.
struct Service {
  double sum = 0.0;          // of the shares of their best rates, each slice with one job
  std::vector<double> best;  // [waiting] share of its best rate, if it had the GPU to itself
};

class SetLayout final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    if (FeatureFor<PartitionSettings>("layout", view).fixed)
      throw Error("actions: layout: expected partitions(fixed=false), found true");
    const PartitionState& state = *view.Find<PartitionState>();
    for (const PartitionGroup& group : state.groups) {
      std::set<std::vector<int>> seen;  // layouts that differ in places alone serve alike
      for (std::size_t layout = 0; layout < group.layouts.size(); ++layout) {
        if (seen.insert(ProfilesOf(group.layouts[layout])).second)
          columns.push_back({group.type, static_cast<int>(layout)});
      }
    }
  }
  bool OfJobs() const override { return false; }
  int RowsLaidOut() const override { return kMostRows; }
  int Rows(const ClusterView& view) override {
    rows_.clear();
    const PartitionState& state = *view.Find<PartitionState>();
    for (int gpu = 0; gpu < static_cast<int>(state.gpus.size()); ++gpu) {
      const PartitionState::Gpu& it = state.gpus[U(gpu)];
      if (it.reconfiguring || it.target >= 0 || !Idle(view, state, gpu)) continue;
      const auto same = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) {
        return row.group == it.group && row.layout == it.layout && row.used == it.used;
      });
      if (same == rows_.end()) {
        rows_.push_back({it.group, it.layout, it.used, {gpu}});
      } else {
        same->gpus.push_back(gpu);
      }
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.gpus.size() > b.gpus.size(); });
    return static_cast<int>(rows_.size());
  }
  void Look(const ClusterView& view, std::span<const int> visible) override {
    waiting_.clear();
    for (int job : visible) {
      if (waiting_.size() < kMostWaiting && view.IsWaiting(job)) waiting_.push_back(job);
    }
    const std::vector<PartitionGroup>& groups = view.Find<PartitionState>()->groups;
    services_.resize(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      services_[g].resize(groups[g].layouts.size());
      for (std::size_t layout = 0; layout < groups[g].layouts.size(); ++layout)
        Find(view, groups[g], static_cast<int>(layout), services_[g][layout]);
    }
  }

  void WriteColumn(const ClusterView& view, const ActionColumn& column, float* f) override {
    const PartitionGroup& group = GroupOf(view, column);
    const MigLayout& layout = group.layouts[U(column.level)];
    f[0] = static_cast<float>(layout.size()) / 7.0F;
    f[1] = layout.empty() ? 1.0F : 0.0F;
    const auto all = static_cast<float>(group.product->compute);  // 7, of an A30 4
    for (const MigSlice& slice : layout)
      f[1] = std::max(f[1], static_cast<float>(group.product->profiles[U(slice.profile)].compute) / all);
  }
  void WriteRow(const ClusterView& view, int row, float* f) override {
    const Row& it = rows_[U(row)];
    const PartitionGroup& group = view.Find<PartitionState>()->groups[U(it.group)];
    f[0] = 1.0F;
    f[1] = static_cast<float>(it.gpus.size()) / static_cast<float>(group.count);
    f[2] = static_cast<float>(group.layouts[U(it.layout)].size()) / 7.0F;
  }
  void WritePair(const ClusterView& view, const Plan&, int row, const ActionColumn& column,
                 float* f) override {
    const Row& it = rows_[U(row)];
    const PartitionGroup& group = GroupOf(view, column);
    if (&group != &view.Find<PartitionState>()->groups[U(it.group)]) return;
    const Service& would = services_[U(it.group)][U(column.level)];
    const Service& has = services_[U(it.group)][U(it.layout)];
    f[0] = static_cast<float>(would.sum / 7.0);
    f[1] = static_cast<float>((would.sum - has.sum) / 7.0);
    if (waiting_.empty()) return;
    f[2] = static_cast<float>(would.best[0]);
    const auto well =
        std::count_if(would.best.begin(), would.best.end(), [](double b) { return b >= kWell; });
    f[3] = static_cast<float>(well) / static_cast<float>(waiting_.size());
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int row,
                 const ActionColumn& column) const override {
    const Row& it = rows_[U(row)];
    const PartitionState& state = *view.Find<PartitionState>();
    if (&GroupOf(view, column) != &state.groups[U(it.group)] || column.level == it.layout)
      return Legality::kNo;
    if (!Better(services_[U(it.group)][U(column.level)], services_[U(it.group)][U(it.layout)], it.used))
      return Legality::kNo;
    return Next(plan, it) >= 0 && Spares(view, plan, state, it) ? Legality::kYes : Legality::kNo;
  }
  void Put(const ClusterView& view, Plan& plan, int row, const ActionColumn& column) override {
    const Row& it = rows_[U(row)];
    const int gpu = Next(plan, it);
    plan.Set({kPartitionControl, gpu, static_cast<double>(column.level)});
    const PartitionState& state = *view.Find<PartitionState>();
    const PartitionGroup& group = state.groups[U(it.group)];
    const MigLayout& layout = group.layouts[U(it.layout)];
    if (layout.empty()) plan.WithholdDevice(group.type, state.gpus[U(gpu)].device);
    for (const MigSlice& slice : layout)
      plan.WithholdDevice(group.slice_type[U(slice.profile)], SliceDevice(view, state, gpu, slice));
  }

 private:
  struct Row {
    int group, layout;
    bool used;              // since they got their layout
    std::vector<int> gpus;  // idle
  };
  static std::vector<int> ProfilesOf(const MigLayout& layout) {
    std::vector<int> profiles;
    for (const MigSlice& slice : layout) profiles.push_back(slice.profile);
    std::sort(profiles.begin(), profiles.end());
    return profiles;
  }
  static const PartitionGroup& GroupOf(const ClusterView& view, const ActionColumn& column) {
    const PartitionState& state = *view.Find<PartitionState>();
    return *std::find_if(state.groups.begin(), state.groups.end(),
                         [&](const PartitionGroup& group) { return group.type == column.type; });
  }
  // The types of the devices of a GPU in a layout.
  template <class F>
  static void EachDevice(const PartitionGroup& group, int layout, const F& f) {
    const MigLayout& its = group.layouts[U(layout)];
    if (its.empty()) f(group.type);
    for (const MigSlice& slice : its) f(group.slice_type[U(slice.profile)]);
  }
  static bool Idle(const ClusterView& view, const PartitionState& state, int gpu) {
    const PartitionState::Gpu& it = state.gpus[U(gpu)];
    const PartitionGroup& group = state.groups[U(it.group)];
    const MigLayout& layout = group.layouts[U(it.layout)];
    if (layout.empty()) return view.DeviceFree(it.device);
    return std::all_of(layout.begin(), layout.end(), [&](const MigSlice& slice) {
      return view.DeviceFree(SliceDevice(view, state, gpu, slice));
    });
  }
  // The sum is greedy, from the layout's first slice on: each to who has most of its best rate there. Of a
  // gang a whole GPU is a part, and no slice is.
  void Find(const ClusterView& view, const PartitionGroup& group, int layout, Service& service) const {
    service.sum = 0.0;
    service.best.assign(waiting_.size(), 0.0);
    taken_.assign(waiting_.size(), false);
    EachDevice(group, layout, [&](int type) {
      double most = 0.0;
      std::size_t who = waiting_.size();
      for (std::size_t i = 0; i < waiting_.size(); ++i) {
        const double share = view.Rate(waiting_[i], type) / view.BestRate(waiting_[i]);
        service.best[i] = std::max(service.best[i], share);
        if (!taken_[i] && share > most) most = share, who = i;
      }
      if (who == waiting_.size()) return;
      taken_[who] = true;
      service.sum += most;
    });
  }
  // More in sum, or, of a GPU that was used, faster for somebody.
  static bool Better(const Service& would, const Service& has, bool used) {
    if (would.sum > has.sum + kLeastDifference) return true;
    for (std::size_t i = 0; used && i < would.best.size(); ++i) {
      if (would.best[i] > has.best[i] + kLeastDifference) return true;
    }
    return false;
  }
  static int Next(const Plan& plan, const Row& row) {
    for (int gpu : row.gpus) {
      if (!plan.IsSet(kPartitionControl, gpu)) return gpu;
    }
    return -1;
  }
  // The plan's jobs do not need the devices that go.
  bool Spares(const ClusterView& view, const Plan& plan, const PartitionState& state, const Row& row) const {
    needs_.assign(U(view.num_types()), 0);
    EachDevice(state.groups[U(row.group)], row.layout, [&](int type) { ++needs_[U(type)]; });
    for (int type = 0; type < view.num_types(); ++type) {
      if (needs_[U(type)] > plan.room(type)) return false;
    }
    return true;
  }

  std::vector<Row> rows_;
  std::vector<int> waiting_;
  std::vector<std::vector<Service>> services_;  // [groups][layouts]
  mutable std::vector<bool> taken_;             // scratch
  mutable std::vector<int> needs_;              // scratch
};

}  // namespace

ActionInfo LayoutAction() {
  return {.name = "layout",
          .summary = "an idle GPU in another layout of slices",
          .source = "MISO, Li et al., SoCC 2022",
          .column = kLayoutColumn,
          .row = kLayoutRow,
          .pair = kLayoutPair,
          .make = MakeAction<SetLayout>};
}

}  // namespace berth
