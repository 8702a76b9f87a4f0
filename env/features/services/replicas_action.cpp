// A service with as many replicas as have them work for a share of the time, as the autoscaler sizes it. GPUs
// that replicas are to get, ordered now or before, are kept from jobs: of the types that serve slowest first,
// as `autoscale` keeps them, and of those that serve alike where jobs run slowest.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <tuple>

#include "env/base/index.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

constexpr std::size_t kMostAsked = 64;  // that are asked which type they can spare

constexpr ChannelInfo kReplicasColumn[] = {
    {"target", "share of the time that replicas are to be at work", 0, 1}};
constexpr ChannelInfo kReplicasRow[] = {
    {"is_service", "1 = the row is a service", 0, 1},
    {"replicas", "GPUs that its replicas have, over those of the cluster", 0, 1},
    {"ordered", "replicas that are ordered, over the GPUs of the cluster, at most 1", 0, 1},
    {"busy", "share of the time that they work", 0, 1},
    {"waiting", "ln(1 + requests that wait) / 10", 0, 2},
    {"tight", "seconds that one request takes over what it may take", 0, 10},
    {"load", "replicas that the load would keep at work, over the GPUs of the cluster", 0, 1},
    {"soon", "the same an interval of the services later, less that now", -1, 1},
};
constexpr ChannelInfo kReplicasPair[] = {
    {"more", "replicas that it adds to those ordered, / 8; 1 and -1 at most", -1, 1},
    {"works", "share of the time that so many replicas would work, 2 at most", 0, 2},
    {"spare", "replicas beyond the load, over its square root, / 4; 1 and -1 at most", -1, 1},
    {"taken", "share of what it adds for which no GPU is idle now", 0, 1},
};

class SetReplicas final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<ServiceSettings>("replicas", view);
    for (int level = 0; level < static_cast<int>(std::size(kReplicaTargets)); ++level)
      columns.push_back({-1, level});
  }
  void Begin(const ClusterView& view) override {
    const ServiceSettings& settings = *view.features().Find<ServiceSettings>();
    rows_ = settings.count();
    speed_ = view.Find<ServiceState>()->type_speed;
    spare_.clear();
    for (int type = 0; type < view.num_types(); ++type) {
      if (speed_[U(type)] > 0.0) spare_.push_back(type);
    }
    trains_.assign(U(view.num_types()), 0.0);
  }
  bool OfJobs() const override { return false; }
  int RowsLaidOut() const override { return rows_; }
  int Rows(const ClusterView&) override { return rows_; }

  void Open(const ClusterView& view, Plan& plan) override {
    if (view.features().Find<ServiceSettings>()->share < 1.0) return;
    SortSpare(view);
    for (const ServiceState::Service& service : view.Find<ServiceState>()->services) {
      for (int lacks = service.wanted - static_cast<int>(service.devices.size()); lacks > 0; --lacks) {
        if (const int type = Spare(plan); type >= 0) plan.Withhold(type, 1);
      }
    }
  }
  void WriteColumn(const ClusterView&, const ActionColumn& column, float* f) override {
    f[0] = static_cast<float>(kReplicaTargets[column.level]);
  }
  void WriteRow(const ClusterView& view, int row, float* f) override {
    const ServiceSettings& settings = *view.features().Find<ServiceSettings>();
    const ServiceState::Service& service = view.Find<ServiceState>()->services[U(row)];
    const auto gpus = static_cast<float>(view.num_whole_gpus());
    double held = 0.0;  // GPUs
    for (int device : service.devices) held += view.PartOfGpu(view.TypeOfDevice(device));
    const auto of = [&](const std::vector<double>& list) {
      return list.size() == 1 ? list[0] : list[U(row)];
    };
    f[0] = 1.0F;
    f[1] = static_cast<float>(held) / gpus;
    f[2] = std::min(1.0F, static_cast<float>(service.wanted) / gpus);
    f[3] = static_cast<float>(service.busy);
    f[4] = static_cast<float>(Log(1.0 + service.queue.waiting()) / 10.0);
    f[5] = static_cast<float>((of(settings.base_s) + of(settings.item_s)) / of(settings.slo_s));
    const double load = ReplicasAtWork(view, row, view.now());
    f[6] = std::min(1.0F, static_cast<float>(load) / gpus);
    const double soon = ReplicasAtWork(view, row, view.now() + settings.interval_s);
    f[7] = std::clamp(static_cast<float>(soon - load) / gpus, -1.0F, 1.0F);
  }
  void WritePair(const ClusterView& view, const Plan&, int row, const ActionColumn& column,
                 float* f) override {
    const ServiceState::Service& service = view.Find<ServiceState>()->services[U(row)];
    const double load = ReplicasAtWork(view, row, view.now());
    const int wanted = Wanted(view, row, column), more = wanted - service.wanted;
    f[0] = std::clamp(static_cast<float>(more) / 8.0F, -1.0F, 1.0F);
    f[1] = static_cast<float>(std::min(2.0, load / wanted));
    f[2] = static_cast<float>(std::clamp((wanted - load) / std::sqrt(std::max(load, 1e-6)) / 4.0, -1.0, 1.0));
    const std::span<const int> free = view.free_gpus();
    const int idle = std::accumulate(free.begin(), free.end(), 0);
    if (more > 0) f[3] = static_cast<float>(std::max(0, more - idle)) / static_cast<float>(more);
  }
  // As many as there are is a command like the others: each service has one at every decision point.
  Legality Legal(const ClusterView&, const Plan& plan, int row, const ActionColumn&) const override {
    return plan.IsSet(kReplicasControl, row) ? Legality::kNo : Legality::kYes;
  }
  bool Runs() const override { return true; }
  void Put(const ClusterView& view, Plan& plan, int row, const ActionColumn& column) override {
    const ServiceState::Service& service = view.Find<ServiceState>()->services[U(row)];
    const int wanted = Wanted(view, row, column);
    plan.Set({kReplicasControl, row, static_cast<double>(wanted)});
    if (view.features().Find<ServiceSettings>()->share < 1.0) return;
    // Those that were ordered before are kept since the plan began.
    const int kept = std::max(service.wanted, static_cast<int>(service.devices.size()));
    for (int more = wanted - kept; more > 0; --more) {
      if (const int type = Spare(plan); type >= 0) plan.Withhold(type, 1);
    }
  }

 private:
  static int Wanted(const ClusterView& view, int row, const ActionColumn& column) {
    return ReplicasFor(view, row, kReplicaTargets[column.level]);
  }
  // Types by how fast they serve, and of those that serve alike by what jobs have of their best rates there.
  void SortSpare(const ClusterView& view) {
    std::fill(trains_.begin(), trains_.end(), 0.0);
    const std::span<const int> active = view.active();
    for (int job : active.first(std::min(active.size(), kMostAsked))) {
      for (int type : spare_) trains_[U(type)] += view.Rate(job, type) / view.BestRate(job);
    }
    std::sort(spare_.begin(), spare_.end(), [&](int a, int b) {
      return std::tuple(speed_[U(a)], trains_[U(a)], a) < std::tuple(speed_[U(b)], trains_[U(b)], b);
    });
  }
  int Spare(const Plan& plan) const {
    for (int type : spare_) {
      if (plan.room(type) > 0) return type;
    }
    return -1;
  }
  int rows_ = 0;
  std::vector<double> speed_, trains_;  // [G]
  std::vector<int> spare_;              // types that serve, as SortSpare says
};

}  // namespace

double ReplicasAtWork(const ClusterView& view, int service, double at) {
  const ServiceState& state = *view.Find<ServiceState>();
  const ServiceState::Service& own = state.services[U(service)];
  double speed = 0.0;  // of a replica: the mean of those that run, else of the fastest type
  for (int device : own.devices) speed += state.type_speed[U(view.TypeOfDevice(device))];
  if (own.devices.empty()) {
    speed = *std::max_element(state.type_speed.begin(), state.type_speed.end());
  } else {
    speed /= static_cast<double>(own.devices.size());
  }
  speed *= view.features().Find<ServiceSettings>()->share;
  return speed > 0.0 ? own.queue.Rate(at) * own.queue.WorkPerRequest(1) / speed : 0.0;
}

int ReplicasFor(const ClusterView& view, int service, double target) {
  const double works = ReplicasAtWork(view, service, view.now());
  return static_cast<int>(std::clamp(std::ceil(works / target), 1.0, static_cast<double>(view.num_gpus())));
}

ActionInfo ReplicasAction() {
  return {.name = "replicas",
          .summary = "a service with as many replicas as are then at work for a share of the time",
          .source = "Kubernetes horizontal pod autoscaler; Aryl, Li et al., arXiv:2202.07896",
          .column = kReplicasColumn,
          .row = kReplicasRow,
          .pair = kReplicasPair,
          .make = MakeAction<SetReplicas>};
}

}  // namespace berth
