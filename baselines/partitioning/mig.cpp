// First come, first served on GPUs in slices (feature partitions), which it partitions for the jobs that
// wait.
//
// For each idle GPU the next waiting jobs are given to the slices of every layout so that the sum of their
// rates, each over the job's best rate anywhere, is largest (system throughput, the objective of MISO: Li et
// al., SoCC 2022, §4.2; layouts are enumerated, the assignment is exact). The present layout is kept unless
// another one's sum is larger by `gain`, as a change costs time. Slices that are free on GPUs in use are
// filled before, by jobs that run there at `enough` of their best rate or more, and after, by any. Jobs for
// which a GPU is being reconfigured are not counted twice. A gang at the head waits for whole GPUs, and idle
// ones are made whole for it. Without the feature: first come, first served on
// the fastest type, jobs that do not fit are passed over.
#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "baselines/cheapest_assignment.hpp"
#include "baselines/placement/node_limits.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/services/services.hpp"

namespace berth {
namespace {

class Mig final : public Scheduler {
 public:
  Mig(int jobs, double gain, double enough, bool repartition)
      : jobs_(jobs), gain_(gain), enough_(enough), repartition_(repartition) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Reset(const ClusterView&) override { layouts_.clear(); }

  void Decide(const ClusterView& view, Decision& decision) override {
    free_.assign(U(view.num_gpus()), false);
    for (int d = 0; d < view.num_gpus(); ++d) free_[U(d)] = view.DeviceFree(d);
    limits_.Begin(view);
    waiting_.assign(view.waiting().begin(), view.waiting().end());
    const PartitionState* state = view.Find<PartitionState>();
    if (state != nullptr) {
      if (GangWaits(view, decision)) return;
      Fill(view, decision, enough_, /*in_use_only=*/true);
      for (int gpu = 0; gpu < static_cast<int>(state->gpus.size()); ++gpu) {
        const PartitionState::Gpu& it = state->gpus[U(gpu)];
        if (it.reconfiguring || it.target >= 0)
          Serve(view, gpu, it.target >= 0 ? it.target : it.layout, nullptr);
      }
      for (int gpu = 0; gpu < static_cast<int>(state->gpus.size()) && !waiting_.empty(); ++gpu)
        Partition(view, gpu, decision);
    }
    Fill(view, decision, 0.0, /*in_use_only=*/false);
  }

 private:
  struct Answer {
    double value = 0.0;
    std::vector<std::pair<int, int>> starts;  // (job, index of slice in the layout)
  };

  // Starts gangs at the head of the queue. One that has no room yet is overtaken by nobody: idle GPUs are
  // made whole for it until it has, or will have, as many as it needs.
  bool GangWaits(const ClusterView& view, Decision& decision) {
    const PartitionState& state = *view.Find<PartitionState>();
    while (!waiting_.empty() && view.Gang(waiting_.front()) > 1) {
      const int job = waiting_.front(), gang = view.Gang(job);
      int best = -1;
      for (int type = 0; type < view.num_types(); ++type) {
        const bool room = Take(view, job, type, /*in_use_only=*/false);
        if (room) limits_.Give(job, on_);
        if (room && view.Rate(job, type) > (best < 0 ? 0.0 : view.Rate(job, best))) best = type;
      }
      if (best >= 0) {
        Take(view, job, best, /*in_use_only=*/false);
        decision.Start(job, best, on_);
        for (int d : on_) free_[U(d)] = false;
        waiting_.erase(waiting_.begin());
        continue;
      }
      for (int g = 0; g < static_cast<int>(state.groups.size()); ++g) {
        if (view.Rate(job, state.groups[U(g)].type) > 0.0 && state.groups[U(g)].count >= gang) {
          MakeWhole(view, g, gang, decision);
          return true;
        }
      }
      return true;  // it waits for GPUs of a type that is not partitioned
    }
    return false;
  }
  void MakeWhole(const ClusterView& view, int group, int gang, Decision& decision) {
    const PartitionState& state = *view.Find<PartitionState>();
    const PartitionGroup& its = state.groups[U(group)];
    const int end = its.first_gpu + its.count;
    int whole = 0;  // or on the way, busy ones too: they stay whole
    for (int gpu = its.first_gpu; gpu < end; ++gpu)
      whole += (state.gpus[U(gpu)].target >= 0 ? state.gpus[U(gpu)].target : state.gpus[U(gpu)].layout) == 0;
    if (view.features().Find<PartitionSettings>()->fixed) return;
    for (int gpu = its.first_gpu; gpu < end && whole < gang; ++gpu) {
      const PartitionState::Gpu& it = state.gpus[U(gpu)];
      if (it.reconfiguring || it.target >= 0 || it.layout == 0) continue;
      Slices(view, gpu, it.layout, types_, devices_);
      if (!std::all_of(devices_.begin(), devices_.end(), [&](int d) { return free_[U(d)] != 0; })) continue;
      decision.controls.push_back({kPartitionControl, gpu, 0.0});
      ++whole;
    }
  }
  // The first usable devices of a type for the gang, on nodes that hold it, into on_; false, and nothing
  // done, where there are too few.
  bool Take(const ClusterView& view, int job, int type, bool in_use_only) {
    const int last = type + 1 < view.num_types() ? view.first_device(type + 1) : view.num_gpus();
    const int gang = view.Gang(job);
    on_.clear();
    for (int d = view.first_device(type); d < last && static_cast<int>(on_.size()) < gang; ++d) {
      if (Usable(d, in_use_only) && limits_.Take(job, d)) on_.push_back(d);
    }
    if (static_cast<int>(on_.size()) == gang) return true;
    limits_.Give(job, on_);
    return false;
  }
  bool NodesHold(const ClusterView& view, int job, int type, bool in_use_only) {
    if (!limits_.limited()) return true;
    if (!Take(view, job, type, in_use_only)) return false;
    limits_.Give(job, on_);
    return true;
  }

  // The devices of a layout and their types, the whole GPU's for layout 0.
  void Slices(const ClusterView& view, int gpu, int layout, std::vector<int>& types,
              std::vector<int>& devices) const {
    const PartitionState& state = *view.Find<PartitionState>();
    const PartitionGroup& group = state.groups[U(state.gpus[U(gpu)].group)];
    types.clear(), devices.clear();
    if (group.layouts[U(layout)].empty()) {
      types.push_back(group.type), devices.push_back(state.gpus[U(gpu)].device);
    }
    for (const MigSlice& slice : group.layouts[U(layout)]) {
      const int type = group.slice_type[U(slice.profile)];
      types.push_back(type);
      devices.push_back(SliceDevice(view, state, gpu, slice));
    }
  }

  // The best way to give the first waiting jobs of gang 1 to these slices. Jobs come first by their order:
  // only as many as there are slices would run, so later ones count where earlier ones cannot.
  Answer Best(const ClusterView& view, const std::vector<int>& types) {
    Answer answer;
    candidates_.clear();
    for (int job : waiting_) {
      if (static_cast<int>(candidates_.size()) == jobs_) break;
      if (view.Gang(job) == 1) candidates_.push_back(job);
    }
    const int rows = static_cast<int>(types.size()), columns = static_cast<int>(candidates_.size()) + rows;
    if (candidates_.empty()) return answer;
    cost_.assign(U(rows * columns), 0.0);  // columns beyond the jobs: the slice stays free
    for (int r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < candidates_.size(); ++c)
        cost_[U(r * columns) + c] = -view.Rate(candidates_[c], types[U(r)]) / view.BestRate(candidates_[c]);
    }
    const std::vector<int> given = CheapestAssignment(cost_, rows, columns);
    for (int r = 0; r < rows; ++r) {
      const double value = -cost_[U(r * columns + given[U(r)])];
      if (value <= 0.0) continue;
      answer.value += value;
      answer.starts.emplace_back(candidates_[U(given[U(r)])], r);
    }
    return answer;
  }

  // Takes from the waiting whom the GPU's layout serves best; starts them where a decision is given, and the
  // node has the cores for one more.
  void Serve(const ClusterView& view, int gpu, int layout, Decision* decision) {
    Slices(view, gpu, layout, types_, devices_);
    for (const auto& [job, slice] : Best(view, types_).starts) {
      if (decision != nullptr && !limits_.Take(job, devices_[U(slice)])) continue;
      std::erase(waiting_, job);
      if (decision == nullptr) continue;
      decision->Start(job, types_[U(slice)], std::span<const int>(&devices_[U(slice)], 1));
      free_[U(devices_[U(slice)])] = false;
    }
  }

  void Partition(const ClusterView& view, int gpu, Decision& decision) {
    const PartitionState& state = *view.Find<PartitionState>();
    const PartitionState::Gpu& it = state.gpus[U(gpu)];
    if (it.reconfiguring || it.target >= 0) return;
    Slices(view, gpu, it.layout, types_, devices_);
    for (int d : devices_) {
      if (!free_[U(d)]) return;
    }
    const double present = Best(view, types_).value;
    int chosen = it.layout;
    double most = present * (1.0 + gain_);
    // A GPU with a replica of a service waits until that has gone elsewhere: only if its layout is of no use.
    const bool may = repartition_ && !view.features().Find<PartitionSettings>()->fixed &&
                     (present == 0.0 || !HasReplica(view, devices_));
    for (int layout : may ? Different(state, it.group) : std::vector<int>{}) {
      Slices(view, gpu, layout, types_, devices_);
      const double value = Best(view, types_).value;
      if (value > most + 1e-9) most = value, chosen = layout;
    }
    if (chosen == it.layout) return Serve(view, gpu, it.layout, &decision);
    decision.controls.push_back({kPartitionControl, gpu, static_cast<double>(chosen)});
    Slices(view, gpu, it.layout, types_, devices_);
    for (int d : devices_) free_[U(d)] = false;
    Serve(view, gpu, chosen, nullptr);
  }

  static bool HasReplica(const ClusterView& view, const std::vector<int>& devices) {
    const auto* services = view.Find<ServiceState>();
    return services != nullptr && std::any_of(devices.begin(), devices.end(),
                                              [&](int d) { return services->replica_of[U(d)] >= 0; });
  }

  // One layout of each set of profiles: where on the GPU they lie does not matter to jobs.
  const std::vector<int>& Different(const PartitionState& state, int group) {
    std::vector<int>& list = layouts_[group];
    if (!list.empty()) return list;
    std::map<std::vector<int>, int> first;
    const auto& layouts = state.groups[U(group)].layouts;
    for (int l = 0; l < static_cast<int>(layouts.size()); ++l) {
      std::vector<int> profiles;
      for (const MigSlice& slice : layouts[U(l)]) profiles.push_back(slice.profile);
      std::sort(profiles.begin(), profiles.end());
      if (first.emplace(profiles, l).second) list.push_back(l);
    }
    return list;
  }

  // Waiting jobs in order onto the free devices where they run fastest, of equals on those of the smallest
  // type, where that is at least `enough` of their best rate.
  void Fill(const ClusterView& view, Decision& decision, double enough, bool in_use_only) {
    room_.assign(U(view.num_types()), 0);
    if (in_use_only) MarkInUse(view);
    for (int type = 0; type < view.num_types(); ++type) {
      const int last = type + 1 < view.num_types() ? view.first_device(type + 1) : view.num_gpus();
      for (int d = view.first_device(type); d < last; ++d) room_[U(type)] += Usable(d, in_use_only);
    }
    std::erase_if(waiting_, [&](int job) {
      int best = -1;
      for (int type = 0; type < view.num_types(); ++type) {
        const double rate = view.Rate(job, type);
        if (rate <= 0.0 || room_[U(type)] < view.Gang(job) || rate < enough * view.BestRate(job)) continue;
        if (!NodesHold(view, job, type, in_use_only)) continue;
        const double than = best < 0 ? 0.0 : view.Rate(job, best);
        const bool smaller =
            best >= 0 && rate == than && view.types()[U(type)].memory_gb < view.types()[U(best)].memory_gb;
        if (rate > than || smaller) best = type;
      }
      if (best < 0) return false;
      BERTH_CHECK(Take(view, job, best, in_use_only), "job ", job, ": counted, and there is no room");
      for (int d : on_) free_[U(d)] = false;
      room_[U(best)] -= view.Gang(job);
      decision.Start(job, best, on_);
      return true;
    });
  }
  bool Usable(int device, bool in_use_only) const {
    return free_[U(device)] && (!in_use_only || in_use_[U(device)]);
  }
  // Devices of GPUs on which something runs, and of types that are not partitioned.
  void MarkInUse(const ClusterView& view) {
    in_use_.assign(U(view.num_gpus()), true);
    const PartitionState& state = *view.Find<PartitionState>();
    for (int gpu = 0; gpu < static_cast<int>(state.gpus.size()); ++gpu) {
      Slices(view, gpu, state.gpus[U(gpu)].layout, types_, devices_);
      const bool idle = std::all_of(devices_.begin(), devices_.end(), [&](int d) { return free_[U(d)]; });
      for (int d : devices_) in_use_[U(d)] = !idle;
    }
  }

  int jobs_;
  double gain_, enough_;
  bool repartition_;
  std::map<int, std::vector<int>> layouts_;  // by group
  std::vector<char> free_, in_use_;          // [D]
  std::vector<int> waiting_, candidates_, types_, devices_, room_, on_;
  std::vector<double> cost_;
  NodeLimits limits_;
};

constexpr ParamInfo kMigParams[] = {
    {"jobs", "10", "waiting jobs that a GPU's layouts are weighed by, 1 to 100"},
    {"gain", "0.1", "by how much another layout must be better, as a fraction"},
    {"enough", "0.5", "of its best rate, below which a job does not go beside others yet, 0 to 1"},
    {"repartition", "true", "false: layouts stay as they are"},
};

}  // namespace

SchedulerInfo MigInfo() {
  return {
      "mig",
      "first come, first served on partitioned GPUs; an idle GPU gets the layout in which the next jobs run "
      "fastest; O(layouts slices^3) an idle GPU",
      "MISO: Li et al., SoCC 2022, §4.2 (system throughput over all layouts)",
      "",
      Knowledge::kNone,
      /*preemptive=*/false,
      kMigParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        const int jobs = static_cast<int>(params.Integer("jobs", 1, 100));
        const double gain = params.Number("gain", 0.0, 1e9), enough = params.Number("enough", 0.0, 1.0);
        return std::make_unique<Mig>(jobs, gain, enough, params.Bool("repartition"));
      },
      /*claims=*/{.times = true}};
}

}  // namespace berth
