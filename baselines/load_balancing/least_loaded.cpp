// Least loaded: an arrival joins the GPUs that are free soonest if everybody takes as long as estimated
// (by=load), or that finish it soonest (by=finish: minimum completion time, Ibarra & Kim 1977). On equal GPUs
// the former is the same as one queue, first come, first served, job by job.
#include <algorithm>
#include <optional>

#include "baselines/load_balancing/device_queues.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kLeastLoadedParams[] = {
    {"by", "load",
     "load: the GPUs free soonest, whatever their speed | finish: those that finish it soonest"},
};

class LeastLoaded final : public Dispatcher {
 public:
  explicit LeastLoaded(bool by_finish) : by_finish_(by_finish) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

  void Choose(const ClusterView& view, const DeviceQueues& queues, int job,
              std::vector<int>& devices) override {
    Forecast(view, queues);
    double least = kNever, fastest = 0.0;
    for (int type = 0; type < view.num_types(); ++type) {
      const int first = view.first_device(type), count = view.types()[U(type)].count, gang = view.Gang(job);
      const double rate = view.Rate(job, type);
      if (!CanRun(view, job, type)) continue;
      order_.clear();
      for (int device = first, left = count; left > 0; ++device) {
        if (!view.InService(device)) continue;
        order_.push_back({free_[U(device)], device});
        --left;
      }
      std::partial_sort(order_.begin(), order_.begin() + gang, order_.end());
      const double start = order_[U(gang - 1)].first;
      const double value = by_finish_ ? start + view.RemainingSeconds(job, type) : start;
      if (value > least || (value == least && rate <= fastest)) continue;
      least = value, fastest = rate;
      devices.clear();
      for (int i = 0; i < gang; ++i) devices.push_back(order_[U(i)].second);
    }
  }

 private:
  // When each GPU has served its queue.
  void Forecast(const ClusterView& view, const DeviceQueues& queues) {
    free_.assign(U(view.num_gpus()), view.now());
    for (int job : queues.jobs()) {
      double start = view.now();
      for (int device : queues.Devices(job)) start = std::max(start, free_[U(device)]);
      const int type = TypeOfDevice(view, queues.Devices(job).front());
      for (int device : queues.Devices(job)) free_[U(device)] = start + view.RemainingSeconds(job, type);
    }
  }

  bool by_finish_;
  std::vector<double> free_;                   // [D] s
  std::vector<std::pair<double, int>> order_;  // (s, device)
};

}  // namespace

SchedulerInfo LeastLoadedInfo() {
  return {
      "least_loaded",
      "dispatch on arrival to the GPUs with least work queued; O(GPUs log GPUs + n) an arrival",
      "least work left: Harchol-Balter, Performance Modeling and Design of Computer Systems, 2013, ch. 24",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/false,
      kLeastLoadedParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        const bool by_finish = params.Choice("by", {"load", "finish"}) == 1;
        return std::make_unique<DeviceQueues>(std::make_unique<LeastLoaded>(by_finish));
      },
      /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
