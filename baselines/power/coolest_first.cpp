// Thermal-aware placement: first come, first served on the fastest type with room, there on the coolest free
// GPUs that do not throttle. Moore, Chase, Ranganathan & Sharma, "Making scheduling 'cool'", USENIX ATC 2005,
// §3.1 (coolest inlet): work goes where the air is cold. Without the feature power, or without heat, it is
// fcfs.
#include <algorithm>
#include <functional>
#include <utility>

#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/features/power.hpp"
#include "env/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kOvertakeParam};

class CoolestFirst final : public Scheduler {
 public:
  explicit CoolestFirst(bool overtake) : overtake_(overtake) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }

  void Decide(const ClusterView& view, Decision& decision) override {
    order_.clear();
    for (int job : view.waiting()) order_.push_back({view.Arrival(job), job});
    plan_.Begin(view, /*preemptive=*/false);
    StartByRank(view, order_, overtake_, plan_);
    if (view.power() == nullptr || !view.features().power->heat) return plan_.Emit(view, decision);
    cold_.assign(U(view.num_types()), {});
    for (int job : plan_.placed()) {
      const int type = plan_.TypeOf(job);
      std::vector<std::pair<double, int>>& cold = cold_[U(type)];
      if (cold.empty()) cold = Coldest(view, type);
      devices_.clear();
      for (int k = 0; k < view.Gang(job); ++k) {
        devices_.push_back(cold.back().second);
        cold.pop_back();
      }
      decision.Start(job, type, devices_);
    }
  }

 private:
  // Free GPUs of the type with their temperatures, the coolest last, on ties the lowest-numbered.
  static std::vector<std::pair<double, int>> Coldest(const ClusterView& view, int type) {
    std::vector<std::pair<double, int>> free;
    const int end = type + 1 < view.num_types() ? view.first_device(type + 1) : view.num_gpus();
    for (int d = view.first_device(type); d < end; ++d) {
      if (!view.DeviceFree(d)) continue;
      const int gpu = view.power()->GpuOf(d);
      const double t = TemperatureC(*view.features().power, *view.power(), gpu, view.now());
      free.emplace_back(view.power()->throttled[U(gpu)] != 0 ? kNever : t, d);
    }
    std::sort(free.begin(), free.end(), std::greater<>());
    return free;
  }

  bool overtake_;
  Plan plan_;
  Ranking order_;
  std::vector<std::vector<std::pair<double, int>>> cold_;  // [G]
  std::vector<int> devices_;
};

}  // namespace

SchedulerInfo CoolestFirstInfo() {
  return {"coolest_first",
          "fcfs that takes the coolest free GPUs of the fastest type with room; O(n + GPUs log GPUs)",
          "Moore, Chase, Ranganathan & Sharma, USENIX ATC 2005 (coolest inlet)",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<CoolestFirst>(params.Bool("overtake"));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
