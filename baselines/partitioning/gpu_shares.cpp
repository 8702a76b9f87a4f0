// An order of the queue (first come, first served unless told otherwise) where jobs hold parts of GPUs
// (feature sharing): which GPU a part is taken of.
//   best, worst, first   the GPU with the least or most room that is enough, or the lowest-numbered
//   fgd                  fragmentation gradient descent: where the GPU that jobs like those seen so far could
//                        not use grows least (Weng et al., USENIX ATC 2023, Algorithm 1; F_n(M) of §3.2 with
//                        GPUs as the one resource, every job seen so far being equally typical)
// Preemptive, all that are active are placed anew in that order, who runs where it is while there is room;
// who has none left is stopped. Jobs go to the type on which they run fastest that has room. Without the
// feature every job is whole and all four are first come, first served on the fastest type.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "baselines/placement/node_limits.hpp"
#include "baselines/queue/order.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/sharing/sharing.hpp"

namespace berth {
namespace {

enum Fit { kBest, kWorst, kFirst, kFgd };

class GpuShares final : public Scheduler {
 public:
  GpuShares(int fit, bool overtake, bool preemptive, ScoreRule order)
      : fit_(fit), overtake_(overtake), preemptive_(preemptive), order_(std::move(order)) {}
  Knowledge knowledge() const override { return order_.knowledge; }
  void Reset(const ClusterView&) override { seen_.clear(), jobs_seen_ = 0; }

  void Decide(const ClusterView& view, Decision& decision) override {
    for (int job : view.arrived()) ++seen_[{view.Gang(job), Milli(view, job)}], ++jobs_seen_;
    room_.resize(U(view.num_gpus()));
    memory_.resize(U(view.num_gpus()));
    for (int d = 0; d < view.num_gpus(); ++d)
      room_[U(d)] = FreeMilli(view, d), memory_[U(d)] = FreeMemoryGb(view, d);
    limits_.Begin(view);
    if (preemptive_) Empty(view);
    ranking_.clear();
    for (int job : preemptive_ ? view.active() : view.waiting())
      ranking_.emplace_back(order_.score(view, job), job);
    std::stable_sort(ranking_.begin(), ranking_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    bool blocked = false;
    for (const auto& [score, job] : ranking_) {
      if (!blocked && Start(view, job, decision)) continue;
      if (view.IsRunning(job)) decision.Stop(job);
      blocked = !overtake_;
      if (blocked && !preemptive_) return;
    }
  }

 private:
  static int Milli(const ClusterView& view, int job) {
    return view.divides_gpus() ? view.GpuMilli(job) : 1000;
  }
  static std::pair<int, int> DevicesOf(const ClusterView& view, int type) {
    const int first = view.first_device(type);
    return {first, type + 1 < view.num_types() ? view.first_device(type + 1) : view.num_gpus()};
  }

  // Everybody has left his GPUs.
  void Empty(const ClusterView& view) {
    for (int d = 0; d < view.num_gpus(); ++d) {
      room_[U(d)] = view.InService(d) ? 1000 : 0;
      memory_[U(d)] = MemoryOf(view, view.TypeOfDevice(d));
    }
    for (int job : view.running()) limits_.Give(job, view.Devices(job));
  }

  // A running job on the GPUs that it has.
  bool Stay(const ClusterView& view, int job) {
    const int milli = Milli(view, job);
    const auto devices = view.Devices(job);
    for (int d : devices) {
      const double gb = view.types()[U(view.TypeOf(job))].memory_gb;
      if (room_[U(d)] < milli || (milli < 1000 && !HoldsGb(memory_[U(d)], view.MemoryGb(job), gb)))
        return false;
    }
    devices_.clear();
    for (int d : devices) {
      if (!limits_.Take(job, d)) {
        limits_.Give(job, devices_);
        return false;
      }
      devices_.push_back(d);
    }
    for (int d : devices_) {
      room_[U(d)] -= milli;
      if (milli < 1000) memory_[U(d)] -= view.MemoryGb(job);
    }
    return true;
  }

  bool Start(const ClusterView& view, int job, Decision& decision) {
    types_.clear();
    for (int type = 0; type < view.num_types(); ++type) {
      if (view.Rate(job, type) > 0.0) types_.push_back(type);
    }
    std::stable_sort(types_.begin(), types_.end(),
                     [&](int a, int b) { return view.Rate(job, a) > view.Rate(job, b); });
    const int milli = Milli(view, job);
    for (int type : types_) {
      if (view.TypeOf(job) == type && Stay(view, job)) return true;
      devices_.clear();
      if (milli == 1000) {
        const auto [first, last] = DevicesOf(view, type);
        for (int d = first; d < last && static_cast<int>(devices_.size()) < view.Gang(job); ++d) {
          if (room_[U(d)] == 1000 && limits_.Take(job, d)) devices_.push_back(d);
        }
        if (static_cast<int>(devices_.size()) < view.Gang(job)) {
          limits_.Give(job, devices_);
          continue;
        }
      } else {
        const int device = Choose(view, job, type, milli);
        if (device < 0) continue;
        limits_.Take(job, device);
        devices_.push_back(device);
        memory_[U(device)] -= view.MemoryGb(job);
      }
      for (int d : devices_) room_[U(d)] -= milli;
      view.IsRunning(job) ? decision.Move(job, type, devices_) : decision.Start(job, type, devices_);
      return true;
    }
    return false;
  }

  int Choose(const ClusterView& view, int job, int type, int milli) const {
    const auto [first, last] = DevicesOf(view, type);
    int best = -1, idle_size = -1;
    double least = 0.0;
    for (int d = first; d < last; ++d) {
      if (room_[U(d)] < milli ||
          !HoldsGb(memory_[U(d)], view.MemoryGb(job), view.types()[U(type)].memory_gb) ||
          !limits_.Holds(job, d))
        continue;
      double cost = 0.0;
      if (fit_ == kBest) cost = room_[U(d)];
      if (fit_ == kWorst) cost = -room_[U(d)];
      if (fit_ == kFgd) {
        const int node = view.NodeOf(d);
        int begin = d, end = d + 1;
        while (begin > first && view.NodeOf(begin - 1) == node) --begin;
        while (end < last && view.NodeOf(end) == node) ++end;
        const bool idle =
            std::all_of(room_.begin() + begin, room_.begin() + end, [](int r) { return r == 1000; });
        if (idle && end - begin == idle_size) continue;  // as good as the one before
        if (idle) idle_size = end - begin;
        cost = Fragmentation(begin, end, d, milli) - Fragmentation(begin, end, d, 0);
      }
      if (best < 0 || cost < least) best = d, least = cost;
    }
    return best;
  }

  // Thousandths on [begin, end), `taken` of device d gone, that jobs seen so far cannot use.
  double Fragmentation(int begin, int end, int d, int taken) const {
    double sum = 0.0;
    for (const auto& [shape, count] : seen_) {
      const auto& [gang, milli] = shape;
      int enough = 0, small = 0, total = 0;
      for (int g = begin; g < end; ++g) {
        const int left = std::max(0, room_[U(g)] - (g == d ? taken : 0));
        total += left;
        left >= milli ? void(++enough) : void(small += left);
      }
      sum += count * static_cast<double>(enough >= gang ? small : total);
    }
    return sum / jobs_seen_;
  }

  int fit_;
  bool overtake_, preemptive_;
  ScoreRule order_;
  Ranking ranking_;
  std::map<std::pair<int, int>, int> seen_;  // (gang, thousandths): jobs
  int jobs_seen_ = 0;
  std::vector<int> room_;       // [D] thousandths
  std::vector<double> memory_;  // [D] GB
  NodeLimits limits_;
  std::vector<int> types_, devices_;
};

constexpr ParamInfo kGpuSharesParams[] = {
    {"fit", "best", "the GPU of which a part is taken: best, worst, first or fgd"},
    kOvertakeParam,
    {"preemptive", "false", "true: running jobs are stopped for those before them in the order, and move"},
    {"order", "fcfs", "of the queue: fcfs, sjf, saf, ... (the orders of `queue`)"}};

}  // namespace

SchedulerInfo GpuSharesInfo() {
  return {"gpu_shares",
          "first come, first served with parts of GPUs (feature sharing): best, worst or first fit, or least "
          "fragmentation; O(GPUs) a start",
          "fgd: Weng et al., USENIX ATC 2023, Algorithm 1",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kGpuSharesParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const int fit = params.Choice("fit", {"best", "worst", "first", "fgd"});
            const bool overtake = params.Bool(kOvertakeParam.name);
            const bool preemptive = params.Bool("preemptive");
            return std::make_unique<GpuShares>(fit, overtake, preemptive,
                                               FindOrder("order", params.Text("order")));
          },
          /*claims=*/{.times = true}};
}

}  // namespace berth
