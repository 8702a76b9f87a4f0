// A job that holds a part of a GPU on a type, on the GPU that one of four rules takes: the least or the most
// room that is enough, where what jobs like those in the system could not use grows least (Weng et al.,
// USENIX ATC 2023, Algorithm 1, with GPUs as the one resource), or the lowest-numbered. Only where none that
// is in use has room does best fit open another; worst fit opens one while there is one. In a preemptive plan
// a job that runs on the type stays where it is while it has room there.
#include <algorithm>
#include <map>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/sharing/share_plan.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/sim/action_kind.hpp"
#include "env/sim/node_limits.hpp"

namespace berth {
namespace {

enum Way : int { kBest, kLeastFragmentation, kWorst, kFirst, kShareWays };

constexpr ChannelInfo kShareColumn[] = {
    {"best", "1 = the GPU with the least room that is enough", 0, 1},
    {"fgd", "1 = the GPU on which fragmentation grows least", 0, 1},
    {"worst", "1 = the GPU with the most room", 0, 1},
    {"first", "1 = the lowest-numbered GPU with room", 0, 1},
};
constexpr ChannelInfo kSharePair[] = {
    {"there", "1 = the job holds a part, and a GPU has room for it", 0, 1},
    {"left", "of that GPU, what would be left", 0, 1},
    {"growth", "GPUs by which what jobs like those in the system could not use of it would grow", -1, 1},
    {"still", "of what waiting jobs ask for, the share of those that the type then still has room for", 0, 1},
    {"opens", "1 = nothing is on that GPU", 0, 1},
    {"stays", "1 = it runs there now", 0, 1},
};

class ShareGpu final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<SharingSettings>("share", view);
    for (int type = 0; type < view.num_types(); ++type) {
      for (int way = 0; way < kShareWays; ++way) columns.push_back({type, way});
    }
  }
  void Begin(const ClusterView& view) override { limited_ = LimitsNodes(view.features()); }
  void Open(const ClusterView& view, Plan& plan) override { shares_.Begin(view, plan); }
  void Close(const ClusterView& view, const Plan& plan, Decision& decision) override {
    shares_.Name(view, plan, decision);
  }
  void Look(const ClusterView& view, std::span<const int> /*visible*/) override {
    counts_.clear();
    for (int job : view.active()) {
      auto& [all, waiting] = counts_[{view.Gang(job), view.GpuMilli(job)}];
      ++all;
      waiting += view.IsWaiting(job);
    }
    shapes_.clear();
    jobs_ = 0.0;
    for (const auto& [shape, count] : counts_) {
      shapes_.push_back({shape.first, shape.second, static_cast<double>(count.first),
                         static_cast<double>(count.second) * shape.first * shape.second});
      jobs_ += count.first;
    }
  }

  void WriteColumn(const ClusterView& /*view*/, const ActionColumn& column, float* f) override {
    f[column.level] = 1.0F;
  }
  void WritePair(const ClusterView& view, const Plan& plan, int job, const ActionColumn& column,
                 float* f) override {
    if (column.level < 0 || !MayShare(view, plan, job, column.type)) return;
    const int device = Device(view, plan, job, column);
    if (device < 0) return;
    const bool opens = !shares_.IsOpen(device);
    const int milli = view.GpuMilli(job), left = std::max(shares_.FreeMilli(device) - milli, 0);
    f[0] = 1.0F;
    f[1] = static_cast<float>(left) / kWholeMilli;
    f[2] = static_cast<float>(Growth(shares_.FreeMilli(device), milli) / kWholeMilli);
    f[3] = static_cast<float>(StillFits(view, plan, column.type, device, left));
    f[4] = opens ? 1.0F : 0.0F;
    f[5] = view.IsRunning(job) && view.Devices(job).front() == device ? 1.0F : 0.0F;
  }

  Legality Legal(const ClusterView& view, const Plan& plan, int job,
                 const ActionColumn& column) const override {
    if (!MayShare(view, plan, job, column.type)) return Legality::kNo;
    if (HasRoom(view, plan, job, column.type)) return Legality::kYes;
    return plan.preemptive() ? Legality::kNotYet : Legality::kNo;  // who was to leave may stay
  }
  void Put(const ClusterView& view, Plan& plan, int job, const ActionColumn& column) override {
    shares_.Follow(view, plan);
    shares_.Put(view, plan, job, column.type, Device(view, plan, job, column));
  }
  bool Runs() const override { return true; }
  // What a part leaves of a GPU is not seen in the plan's room.
  bool Awaits() const override { return true; }

 private:
  struct Shape {
    int gang, milli;
    double jobs, waiting;  // in the system; thousandths that those who wait ask for
  };

  bool MayShare(const ClusterView& view, const Plan& plan, int job, int type) const {
    return !limited_ && view.GpuMilli(job) < kWholeMilli && !plan.Placed(job) && view.Rate(job, type) > 0.0 &&
           (plan.preemptive() || view.IsWaiting(job));
  }
  template <class F>
  static void EachDevice(const ClusterView& view, int type, const F& f) {
    const int first = view.first_device(type), count = view.cluster().types[U(type)].count;
    for (int d = first; d < first + count; ++d) f(d);
  }

  bool HasRoom(const ClusterView& view, const Plan& plan, int job, int type) const {
    shares_.Follow(view, plan);
    if (shares_.Stay(view, plan, job, type) >= 0 || shares_.Unopened(view, plan, type) >= 0) return true;
    bool found = false;
    EachDevice(view, type,
               [&](int d) { found = found || (shares_.IsOpen(d) && shares_.Holds(view, job, d)); });
    return found;
  }

  // -1 = none.
  int Device(const ClusterView& view, const Plan& plan, int job, const ActionColumn& column) const {
    shares_.Follow(view, plan);
    if (const int stay = shares_.Stay(view, plan, job, column.type); stay >= 0) return stay;
    const int milli = view.GpuMilli(job), unopened = shares_.Unopened(view, plan, column.type);
    int best = -1;
    double least = 0.0;
    EachDevice(view, column.type, [&](int d) {
      if (d != unopened && !(shares_.IsOpen(d) && shares_.Holds(view, job, d))) return;
      const int free = shares_.FreeMilli(d);
      const double cost = column.level == kBest                 ? free
                          : column.level == kWorst              ? -free
                          : column.level == kLeastFragmentation ? Growth(free, milli)
                                                                : 0.0;
      if (best < 0 || cost < least) best = d, least = cost;
    });
    return best;
  }

  // Thousandths of a GPU of which so many are free that jobs like those in the system could not use.
  double Unusable(int free) const {
    double sum = 0.0;
    for (const Shape& shape : shapes_) sum += shape.milli > free ? shape.jobs : 0.0;
    return sum * free / std::max(jobs_, 1.0);
  }
  double Growth(int free, int milli) const { return Unusable(std::max(free - milli, 0)) - Unusable(free); }

  double StillFits(const ClusterView& view, const Plan& plan, int type, int device, int left) const {
    int most = 0;
    EachDevice(view, type, [&](int d) {
      if (d == device || shares_.IsOpen(d)) most = std::max(most, d == device ? left : shares_.FreeMilli(d));
    });
    const int room = shares_.Room(plan, type) - (shares_.IsOpen(device) ? 0 : 1);
    double fits = 0.0, all = 0.0;
    for (const Shape& shape : shapes_) {
      all += shape.waiting;
      if (room >= shape.gang || (shape.milli < kWholeMilli && most >= shape.milli)) fits += shape.waiting;
    }
    return all > 0.0 ? fits / all : 1.0;
  }

  mutable SharePlan shares_;                                   // follows the plan that it is asked about
  std::map<std::pair<int, int>, std::pair<int, int>> counts_;  // (gang, thousandths): jobs, of them waiting
  std::vector<Shape> shapes_;
  double jobs_ = 0.0;
  bool limited_ = false;  // nodes have cores and memory, which a plan that names devices does not know
};

}  // namespace

ActionInfo ShareAction() {
  return {.name = "share",
          .summary =
              "a job that holds a part of a GPU, on the one that best fit, least fragmentation, worst "
              "or first fit takes",
          .source = "FGD, Weng et al., USENIX ATC 2023",
          .column = kShareColumn,
          .pair = kSharePair,
          .make = MakeAction<ShareGpu>};
}

}  // namespace berth
