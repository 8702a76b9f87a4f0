// Layouts chosen once for an expected mix of jobs, and kept: a static partition, such as dynamic ones are
// compared with. It is not the "optimal static partition" of MISO (Li et al., SoCC 2022; abstract: MISO's
// mean JCT is 16% below that), which is the best for completion times: here the layouts are those that can
// serve the mix at the highest rate (the capacity of Tassiulas & Ephremides 1992 by a mixed-integer program,
// static_layouts.hpp). The mix is that of the first `jobs` arrivals, which GPUs serve as they are; each
// changes when it is idle next. Jobs are then given to what there is as by mig(repartition=false). Gangs are
// spread over whole GPUs: enough of those are kept for the largest that is in the mix.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "baselines/composition/inner.hpp"
#include "baselines/partitioning/static_layouts.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/partitions/partitions.hpp"

namespace berth {
namespace {

constexpr ParamInfo kMigStaticParams[] = {
    {"jobs", "30", "arrivals that are taken for the mix, from 1"},
};

class MigStatic final : public Scheduler {
 public:
  explicit MigStatic(int jobs) : jobs_(U(jobs)), inner_("mig_static", "mig(repartition=false)") {}
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Reset(const ClusterView& view) override {
    inner_.Reset(view);
    seen_.clear(), meant_.clear();
    chosen_ = false;
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    const PartitionState* state = view.Find<PartitionState>();
    if (state != nullptr && !view.features().Find<PartitionSettings>()->fixed) {
      if (!chosen_) seen_.insert(seen_.end(), view.arrived().begin(), view.arrived().end());
      if (!chosen_ && seen_.size() >= jobs_) Choose(view, *state);
      Change(view, *state, decision);
      // The jobs that wait are served from the next decision on: who is inside does not know what is taken.
      if (!decision.controls.empty()) {
        decision.wake_at = view.now() + view.features().Find<PartitionSettings>()->reconfig_s;
        return;
      }
    }
    inner_.DecideAll(view, decision);
  }

 private:
  // One kind for each job type and gang that was seen.
  std::vector<JobMix> Mix(const ClusterView& view) const {
    std::map<std::pair<int, int>, JobMix> kinds;  // by job type and gang
    for (int job : seen_) {
      const auto [entry, fresh] = kinds.try_emplace({view.JobType(job), view.Gang(job)});
      JobMix& kind = entry->second;
      kind.share += 1.0 / static_cast<double>(seen_.size());
      if (!fresh) continue;
      kind.gang = view.Gang(job);
      for (double rate : view.Rates(job)) kind.speed.push_back(rate / view.BestRate(job));
    }
    std::vector<JobMix> mix;
    for (auto& [key, kind] : kinds) mix.push_back(std::move(kind));
    return mix;
  }

  // Gives each idle GPU the layout that is meant for it, once: a gang may want it whole later.
  void Change(const ClusterView& view, const PartitionState& state, Decision& decision) {
    for (int gpu = 0; gpu < static_cast<int>(meant_.size()); ++gpu) {
      const PartitionState::Gpu& it = state.gpus[U(gpu)];
      if (meant_[U(gpu)] < 0 || it.reconfiguring || it.target >= 0 || !Idle(view, state, it, gpu)) continue;
      if (meant_[U(gpu)] != it.layout)
        decision.controls.push_back({kPartitionControl, gpu, static_cast<double>(meant_[U(gpu)])});
      meant_[U(gpu)] = -1;
    }
  }
  static bool Idle(const ClusterView& view, const PartitionState& state, const PartitionState::Gpu& it,
                   int gpu) {
    const PartitionGroup& group = state.groups[U(it.group)];
    if (group.layouts[U(it.layout)].empty()) return view.DeviceFree(it.device);
    for (const MigSlice& slice : group.layouts[U(it.layout)]) {
      const auto starts = static_cast<int>(group.product->profiles[U(slice.profile)].starts.size());
      const int first = view.first_device(group.slice_type[U(slice.profile)]);
      if (!view.DeviceFree(first + (gpu - group.first_gpu) * starts + slice.start)) return false;
    }
    return true;
  }

  void Choose(const ClusterView& view, const PartitionState& state) {
    chosen_ = true;
    const auto types = U(view.num_types());
    std::vector<int> fixed(types);
    for (std::size_t k = 0; k < types; ++k) fixed[k] = view.cluster().types[k].count;
    std::vector<LayoutChoice> products;
    std::vector<std::vector<int>> layout_of;  // [products][choices] into the group's layouts
    for (const PartitionGroup& group : state.groups) {
      fixed[U(group.type)] = 0;
      for (int type : group.slice_type) fixed[U(type)] = 0;
      LayoutChoice product{group.count, {}};
      layout_of.emplace_back();
      std::set<std::vector<int>> known;  // where on the GPU slices lie does not matter to jobs
      for (std::size_t l = 0; l < group.layouts.size(); ++l) {
        std::vector<int> devices(types, 0);
        if (group.layouts[l].empty()) devices[U(group.type)] = 1;
        for (const MigSlice& slice : group.layouts[l]) ++devices[U(group.slice_type[U(slice.profile)])];
        if (!known.insert(devices).second) continue;
        product.devices.push_back(std::move(devices));
        layout_of.back().push_back(static_cast<int>(l));
      }
      products.push_back(std::move(product));
    }
    const StaticLayouts chosen = ChooseLayouts(products, fixed, Mix(view));
    if (!chosen.found) return;
    for (std::size_t g = 0; g < products.size(); ++g) {
      for (std::size_t c = 0; c < layout_of[g].size(); ++c)
        meant_.insert(meant_.end(), U(chosen.count[g][c]), layout_of[g][c]);
    }
  }

  std::size_t jobs_;
  Inner inner_;
  std::vector<int> seen_;   // jobs
  std::vector<int> meant_;  // [GPUs] layout to come, -1 = it came
  bool chosen_ = false;
};

}  // namespace

SchedulerInfo MigStaticInfo() {
  return {
      "mig_static",
      "first come, first served on GPUs in the layouts that serve the expected mix at the highest rate, "
      "chosen once; exponential at worst, once (a mixed-integer program), then as mig",
      "highest service rate of a fixed configuration: Tassiulas & Ephremides, IEEE TAC 1992; in the place "
      "of MISO's optimal static partition, which it is not",
      "",
      Knowledge::kNone,
      /*preemptive=*/false,
      kMigStaticParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        return std::make_unique<MigStatic>(static_cast<int>(params.Integer("jobs", 1, 1000000)));
      },
      /*claims=*/{.times = true}};
}

}  // namespace berth
