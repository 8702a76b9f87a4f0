// Thermal-aware placement: first come, first served on the fastest type with room, there on the coolest free
// GPUs that do not throttle, of nodes that hold the job. Moore, Chase, Ranganathan & Sharma, "Making
// scheduling 'cool'", USENIX ATC 2005, §3.1 (coolest inlet): work goes where the air is cold. Without the
// feature power, or without heat, it is fcfs.
#include <algorithm>
#include <functional>
#include <utility>

#include "baselines/placement/node_limits.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/power/power.hpp"

namespace berth {
namespace {

constexpr ParamInfo kCoolestFirstParams[] = {kOvertakeParam};

class CoolestFirst final : public Scheduler {
 public:
  explicit CoolestFirst(bool overtake) : overtake_(overtake) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }

  void Decide(const ClusterView& view, Decision& decision) override {
    order_.clear();
    for (int job : view.waiting()) order_.push_back({view.Arrival(job), job});
    plan_.Begin(view, /*preemptive=*/false);
    StartByRank(view, order_, overtake_, plan_);
    const auto* power = view.Find<PowerState>();
    const auto* settings = view.features().Find<PowerSettings>();
    if (power == nullptr || !settings->heat) return plan_.Emit(view, decision);
    cold_.assign(U(view.num_types()), {});
    known_.assign(U(view.num_types()), false);
    limits_.Begin(view);
    for (int job : plan_.placed()) {
      const int type = plan_.TypeOf(job);
      if (!known_[U(type)]) cold_[U(type)] = Coldest(view, type), known_[U(type)] = true;
      if (TakeColdest(job, view.Gang(job), cold_[U(type)])) {
        decision.Start(job, type, devices_);
      } else if (!overtake_) {  // its nodes have the GPUs and not the cores
        return;
      }
    }
  }

 private:
  // Free GPUs of the type with their temperatures, the coolest last, on ties the lowest-numbered.
  static std::vector<std::pair<double, int>> Coldest(const ClusterView& view, int type) {
    std::vector<std::pair<double, int>> free;
    const auto& power = *view.Find<PowerState>();
    const auto& settings = *view.features().Find<PowerSettings>();
    const int end = type + 1 < view.num_types() ? view.first_device(type + 1) : view.num_gpus();
    for (int d = view.first_device(type); d < end; ++d) {
      if (!view.DeviceFree(d)) continue;
      const int gpu = power.GpuOf(d);
      const double t = TemperatureC(settings, power, gpu, view.now());
      free.emplace_back(power.throttled[U(gpu)] != 0 ? kNever : t, d);
    }
    std::sort(free.begin(), free.end(), std::greater<>());
    return free;
  }

  // The coolest GPUs for the gang, out of `cold` and into devices_; false, and nothing done: too few.
  bool TakeColdest(int job, int gang, std::vector<std::pair<double, int>>& cold) {
    devices_.clear();
    for (auto it = cold.rbegin(); it != cold.rend() && static_cast<int>(devices_.size()) < gang; ++it) {
      if (limits_.Take(job, it->second)) devices_.push_back(it->second);
    }
    if (static_cast<int>(devices_.size()) < gang) {
      limits_.Give(job, devices_);
      return false;
    }
    std::erase_if(cold, [this](const auto& gpu) {
      return std::find(devices_.begin(), devices_.end(), gpu.second) != devices_.end();
    });
    return true;
  }

  bool overtake_;
  Plan plan_;
  NodeLimits limits_;
  Ranking order_;
  std::vector<std::vector<std::pair<double, int>>> cold_;  // [G]
  std::vector<char> known_;                                // [G] is it in cold_?
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
          kCoolestFirstParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<CoolestFirst>(params.Bool("overtake"));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
