// A service with as many replicas as have them work for a share of the time, as the autoscaler sizes it. GPUs
// that replicas are to get, ordered now or before, are kept from jobs: of the types that serve slowest first,
// which training can best spare, as `autoscale` keeps them.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "env/base/index.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kColumn[] = {{"target", "share of the time that replicas are to be at work", 0, 1}};
constexpr ChannelInfo kRow[] = {
    {"is_service", "1 = the row is a service", 0, 1},
    {"replicas", "replicas that run, over the GPUs of the cluster", 0, 1},
    {"ordered", "replicas that are ordered, likewise", 0, 1},
    {"busy", "share of the time that they work", 0, 1},
    {"waiting", "ln(1 + requests that wait) / 10", 0, 2},
    {"tight", "seconds that one request takes over what it may take", 0, 10},
};

class Replicas final : public ActionKind {
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
    slowest_.clear();
    for (int type = 0; type < view.num_types(); ++type) {
      if (speed_[U(type)] > 0.0) slowest_.push_back(type);
    }
    std::stable_sort(slowest_.begin(), slowest_.end(),
                     [&](int a, int b) { return speed_[U(a)] < speed_[U(b)]; });
  }
  bool OfJobs() const override { return false; }
  int RowsLaidOut() const override { return rows_; }
  int Rows(const ClusterView&) override { return rows_; }

  void Open(const ClusterView& view, Plan& plan) override {
    if (view.features().Find<ServiceSettings>()->share < 1.0) return;
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
    const auto gpus = static_cast<float>(view.num_gpus());
    const auto of = [&](const std::vector<double>& list) {
      return list.size() == 1 ? list[0] : list[U(row)];
    };
    f[0] = 1.0F;
    f[1] = static_cast<float>(service.devices.size()) / gpus;
    f[2] = static_cast<float>(service.wanted) / gpus;
    f[3] = static_cast<float>(service.busy);
    f[4] = static_cast<float>(Log(1.0 + service.queue.waiting()) / 10.0);
    f[5] = static_cast<float>((of(settings.base_s) + of(settings.item_s)) / of(settings.slo_s));
  }
  Legality Legal(const ClusterView& view, const Plan& plan, int row,
                 const ActionColumn& column) const override {
    const bool changes = Wanted(view, row, column) != view.Find<ServiceState>()->services[U(row)].wanted;
    return changes && !plan.IsSet(kReplicasControl, row) ? Legality::kYes : Legality::kNo;
  }
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
    return ReplicasFor(view.Find<ServiceState>()->services[U(row)], kReplicaTargets[column.level],
                       view.num_gpus());
  }
  int Spare(const Plan& plan) const {
    for (int type : slowest_) {
      if (plan.room(type) > 0) return type;
    }
    return -1;
  }
  int rows_ = 0;
  std::vector<double> speed_;  // [G]
  std::vector<int> slowest_;   // types that serve, slowest first
};

}  // namespace

int ReplicasFor(const ServiceState::Service& service, double target, int most) {
  const auto held = static_cast<double>(service.devices.size());
  return std::clamp(static_cast<int>(std::ceil(held * service.busy / target)), 1, most);
}

ActionInfo ReplicasAction() {
  return {.name = "replicas",
          .summary = "a service with as many replicas as are then at work for a share of the time",
          .source = "Kubernetes horizontal pod autoscaler; Aryl, Li et al., arXiv:2202.07896",
          .column = kColumn,
          .row = kRow,
          .make = MakeAction<Replicas>};
}

}  // namespace berth
