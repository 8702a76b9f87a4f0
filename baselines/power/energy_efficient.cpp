// Each job on the GPU type, and with the feature power at the clock, that gives its steps for the least
// energy, among those that are at most `slowdown` times slower than the fastest type at its full clock:
//
//   E = gang x watts / (rate x speed(clock)),   watts = idle + (peak - idle) u (f / f_max)^exponent
//
// First come, first served; what runs is left alone. The bounded trade of speed for energy by type and
// frequency: Chau, Chu, Liu & Leung, "Energy efficient job scheduling with DVFS for CPU-GPU heterogeneous
// systems", e-Energy 2017; the bound on slow-down: Hsu & Feng, SC 2005.
#include <algorithm>

#include "baselines/placement/node_limits.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/power/power.hpp"

namespace berth {
namespace {

constexpr ParamInfo kEnergyEfficientParams[] = {
    {"slowdown", "1.5", "the most that a job may run slower than on its fastest type at full clock, from 1"},
    {"idle", "true", "false: only watts above idle count, since GPUs that nobody holds draw as much"},
    kOvertakeParam,
};

class EnergyEfficient final : public Scheduler {
 public:
  EnergyEfficient(double slowdown, bool idle, bool overtake)
      : slowdown_(slowdown), idle_(idle), overtake_(overtake) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }

  void Decide(const ClusterView& view, Decision& decision) override {
    plan_.Begin(view, /*preemptive=*/false);
    taken_.assign(view.Find<PowerState>() != nullptr ? U(view.num_gpus()) : 0, 0);
    limits_.Begin(view);
    for (int job : view.waiting()) {
      if (plan_.total_room() == 0) return;
      const Choice choice = Best(view, job);
      if (choice.type >= 0) {
        plan_.Put(view, job, choice.type);
        Start(view, job, choice, decision);
      } else if (!overtake_) {
        return;
      }
    }
  }

 private:
  struct Choice {
    int type = -1, level = 0;
    double joules = kNever, rate = 0.0;  // of a step
  };

  Choice Best(const ClusterView& view, int job) {
    const PowerState* power = view.Find<PowerState>();
    const int levels = power == nullptr ? 1 : static_cast<int>(power->dynamic_share.size());
    const std::vector<double>& used = view.traits().utilization;
    const double utilization = used.empty() ? 1.0 : used[U(view.JobType(job))];
    double fastest = 0.0;
    for (int type = 0; type < view.num_types(); ++type) {
      if (CanRun(view, job, type)) fastest = std::max(fastest, view.Rate(job, type));
    }
    Choice best;
    for (int type = 0; type < view.num_types(); ++type) {
      if (!plan_.Fits(view, job, type) || !NodesHold(view, job, type)) continue;
      const GpuType& gpu = view.types()[U(type)];
      for (int level = levels - 1; level >= 0; --level) {
        const double speed = power == nullptr ? 1.0 : power->speed[U(view.JobType(job) * levels + level)];
        const double share = power == nullptr ? 1.0 : power->dynamic_share[U(level)];
        const double rate = view.Rate(job, type) * speed;
        if (rate * slowdown_ * (1.0 + 1e-12) < fastest) continue;
        const double watts =
            (idle_ ? gpu.idle_power_w : 0.0) + (gpu.peak_power_w - gpu.idle_power_w) * utilization * share;
        const double joules = view.Gang(job) * watts / rate;
        if (joules < best.joules || (joules == best.joules && rate > best.rate))
          best = {type, level, joules, rate};
      }
    }
    return best;
  }

  // With clocks to set the GPUs must be named: the lowest-numbered free ones.
  void Start(const ClusterView& view, int job, const Choice& choice, Decision& decision) {
    if (view.Find<PowerState>() == nullptr) return decision.Start(job, choice.type);
    BERTH_CHECK(Take(view, job, choice.type), "job ", job, ": Fits and NodesHold, and there is no room");
    for (int d : devices_) {
      taken_[U(d)] = 1;
      decision.controls.push_back({kClockControl, d, static_cast<double>(choice.level)});
    }
    decision.Start(job, choice.type, devices_);
  }

  // Devices for the gang, on nodes that hold it, into devices_; false, and nothing done, where too few are
  // left.
  bool Take(const ClusterView& view, int job, int type) {
    const int end = type + 1 < view.num_types() ? view.first_device(type + 1) : view.num_gpus();
    devices_.clear();
    for (int d = view.first_device(type); d < end && static_cast<int>(devices_.size()) < view.Gang(job);
         ++d) {
      if (view.DeviceFree(d) && taken_[U(d)] == 0 && limits_.Take(job, d)) devices_.push_back(d);
    }
    if (static_cast<int>(devices_.size()) == view.Gang(job)) return true;
    limits_.Give(job, devices_);
    return false;
  }
  bool NodesHold(const ClusterView& view, int job, int type) {
    if (view.Find<PowerState>() == nullptr || !limits_.limited()) return true;
    if (!Take(view, job, type)) return false;
    limits_.Give(job, devices_);
    return true;
  }

  double slowdown_;
  bool idle_, overtake_;
  Plan plan_;
  NodeLimits limits_;
  std::vector<char> taken_;  // [D] by this decision
  std::vector<int> devices_;
};

}  // namespace

SchedulerInfo EnergyEfficientInfo() {
  return {"energy_efficient",
          "fcfs on the GPU type and clock of least energy within a bound on slow-down; O(n types clocks)",
          "Chau, Chu, Liu & Leung, e-Energy 2017; Hsu & Feng, SC 2005",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kEnergyEfficientParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const double slowdown = params.Number("slowdown", 1.0, 1e6);
            const bool idle = params.Bool("idle");
            return std::make_unique<EnergyEfficient>(slowdown, idle, params.Bool("overtake"));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
