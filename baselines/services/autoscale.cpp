// Replicas of inference services follow the load, as the Kubernetes horizontal pod autoscaler orders them:
//   desired = ceil(replicas x utilisation / target), left alone within 10% of the target,
//   scaled down only to the largest desired of the last `stable` measurements.
// Training has all other GPUs: the inner scheduler sees what the ordered replicas will leave, so it gives way
// (at once where it is preemptive, otherwise as jobs end) and fills what idle services return.
#include <algorithm>
#include <cmath>

#include "baselines/composition/inner.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/services/services.hpp"

namespace berth {
namespace {

constexpr double kTolerance = 0.1;  // the autoscaler's default

constexpr ParamInfo kAutoscaleParams[] = {
    {"inner", "srpt", "the scheduler of the training jobs"},
    {"target", "0.6", "share of their time that replicas shall be at work"},
    {"stable", "5", "measurements, one an interval of the services, before replicas are given back"},
};

class Autoscale final : public Scheduler {
 public:
  Autoscale(Inner inner, double target, int stable)
      : inner_(std::move(inner)), target_(target), stable_(static_cast<std::size_t>(stable)) {}
  Knowledge knowledge() const override { return inner_.knowledge(); }
  bool resizes() const override { return inner_.resizes(); }

  void Reset(const ClusterView& view) override {
    inner_.Reset(view);
    records_.clear();
    const auto* services = view.Find<ServiceState>();
    if (services == nullptr) return;
    records_.resize(services->services.size());
    for (std::size_t i = 0; i < records_.size(); ++i) records_[i].since = view.now();
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    int missing = 0;  // replicas that wait for a GPU
    const auto* services = view.Find<ServiceState>();
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const ServiceState::Service& service = services->services[i];
      const int held = static_cast<int>(service.devices.size());
      int wanted = service.wanted;
      Record& record = records_[i];
      if (view.now() >= record.since + view.features().Find<ServiceSettings>()->interval_s) {
        wanted = Desired(view, service, record);
        if (wanted != service.wanted)
          decision.controls.push_back({kReplicasControl, static_cast<int>(i), static_cast<double>(wanted)});
      }
      missing += std::max(0, wanted - held);
    }
    inner_.Begin(view);
    for (int job : view.active()) inner_.Show(view, job);
    Leave(view, missing);
    inner_.Decide(view, decision);
  }

 private:
  struct Record {  // of a service
    double since = 0.0, busy = 0.0, replica_seconds = 0.0;
    std::vector<int> desired;  // of the last measurements
  };

  int Desired(const ClusterView& view, const ServiceState::Service& service, Record& record) const {
    const int held = static_cast<int>(service.devices.size());
    const double replica_seconds = service.replica_seconds + held * (view.now() - service.since);
    const double busy = service.queue.BusySeconds(view.now());
    const double there = replica_seconds - record.replica_seconds;
    const double ratio = there > 0.0 ? (busy - record.busy) / there / target_ : 0.0;
    record.since = view.now(), record.busy = busy, record.replica_seconds = replica_seconds;
    int desired = held;
    if (std::abs(ratio - 1.0) > kTolerance) desired = static_cast<int>(std::ceil(held * ratio));
    desired = std::clamp(desired, 1, view.num_gpus());  // one stays: without it nothing is measured
    record.desired.push_back(desired);
    if (record.desired.size() > stable_) record.desired.erase(record.desired.begin());
    const int highest = *std::max_element(record.desired.begin(), record.desired.end());
    return desired > service.wanted ? desired : std::min(service.wanted, std::max(desired, highest));
  }

  // Leaves `missing` GPUs to replicas: idle ones first, then by holding fewer, types that serve slowest
  // first, which training can best spare.
  void Leave(const ClusterView& view, int missing) {
    if (missing == 0 || view.features().Find<ServiceSettings>()->share < 1.0) return;
    std::vector<int> order;
    const std::vector<double>& speed = view.Find<ServiceState>()->type_speed;
    for (int type = 0; type < view.num_types(); ++type) {
      if (speed[U(type)] > 0.0) order.push_back(type);
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return speed[U(a)] < speed[U(b)]; });
    std::vector<int> taken(U(view.num_types()), 0);
    for (const bool idle : {true, false}) {
      for (int type : order) {
        const int room = (idle ? view.free_gpus()[U(type)] : view.types()[U(type)].count) - taken[U(type)];
        const int take = std::clamp(missing, 0, std::max(room, 0));
        taken[U(type)] += take;
        missing -= take;
      }
    }
    for (int type = 0; type < view.num_types(); ++type) {
      if (taken[U(type)] == 0) continue;
      inner_.Limit(type, view.types()[U(type)].count - taken[U(type)],
                   std::max(0, view.free_gpus()[U(type)] - taken[U(type)]));
    }
  }

  Inner inner_;
  double target_;
  std::size_t stable_;
  std::vector<Record> records_;
};

}  // namespace

SchedulerInfo AutoscaleInfo() {
  return {"autoscale",
          "inference replicas follow their load, training fills the rest; O(services + GPU types) + inner's",
          "Kubernetes horizontal pod autoscaler, algorithm details (v2); training beside inference as in "
          "Aryl, Li et al., arXiv:2202.07896",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kAutoscaleParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            Inner inner("autoscale: parameter 'inner'", params.Text("inner"));
            const double target = params.Number("target", 0.01, 1.0);
            const int stable = static_cast<int>(params.Integer("stable", 1, 100000));
            return std::make_unique<Autoscale>(std::move(inner), target, stable);
          }};
}

}  // namespace berth
