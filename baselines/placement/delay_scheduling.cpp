// Delay scheduling for gangs: first come, first served, but a gang that could only start spread lets others
// pass for a while, until as few nodes as it needs have room for it.
//
// Zaharia et al., EuroSys 2010, §3 (a job that cannot be where its data is gives up its turn for a limited
// time), with consolidation in the place of locality as in Tiresias (Gu et al., NSDI 2019, §3.3) and Gandiva
// (Xiao et al., OSDI 2018, §4).
#include <algorithm>

#include "baselines/placement/node_planner.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kDelaySchedulingParams[] = {
    {"patience", "600", "s that a gang gives up its turn for, from the first time it could only be spread"},
    {"tolerate", "1",
     "a gang that spread has this share of its consolidated speed or more does not wait; from 0 to 1"},
    kOvertakeParam,
};

class DelayScheduling final : public Scheduler {
 public:
  DelayScheduling(double patience, double tolerate, bool overtake)
      : patience_(patience), tolerate_(tolerate), overtake_(overtake) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }

  void Reset(const ClusterView& view) override {
    planner_.Reset(view);
    passed_.assign(U(view.num_jobs()), kNever);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    planner_.Begin(view);
    room_.assign(view.free_gpus().begin(), view.free_gpus().end());
    int left = 0;
    for (int free : room_) left += free;
    for (int job : view.waiting()) {
      if (left == 0) break;
      const Place place = Best(view, job);
      if (place.type < 0) {
        if (!overtake_) break;
        continue;
      }
      if (place.speed < tolerate_ * view.Rate(job, place.type)) {
        passed_[U(job)] = std::min(passed_[U(job)], view.now());
        const double until = passed_[U(job)] + patience_;
        if (until > view.now()) {
          decision.wake_at = std::min(decision.wake_at, until);
          continue;
        }
      }
      planner_.Choose(view, job, place.type, PlacementRule::kConsolidate);
      planner_.Take();
      decision.Start(job, place.type, planner_.chosen());
      room_[U(place.type)] -= view.Gang(job);
      left -= view.Gang(job);
    }
  }

 private:
  struct Place {
    int type = -1;
    double speed = 0.0;  // steps/s there, as far apart as it would be
  };

  // The fastest type on which it would not be too slow; if there is none, the one where it would be fastest.
  Place Best(const ClusterView& view, int job) {
    Place best;
    bool best_near = false;
    for (int type = 0; type < view.num_types(); ++type) {
      const double rate = view.Rate(job, type);
      if (rate <= 0.0 || view.Gang(job) > room_[U(type)]) continue;
      if (!planner_.Choose(view, job, type, PlacementRule::kConsolidate)) continue;
      const double speed = rate * planner_.chosen_factor();
      const bool near = speed >= tolerate_ * rate;
      if (best.type >= 0 && (near != best_near ? best_near : speed <= best.speed)) continue;
      best = {type, speed};
      best_near = near;
    }
    return best;
  }

  double patience_, tolerate_;
  bool overtake_;
  std::vector<double> passed_;  // [J] s, when it was first passed over; kNever = not yet
  std::vector<int> room_;       // [G]
  NodePlanner planner_;
};

}  // namespace

SchedulerInfo DelaySchedulingInfo() {
  return {"delay_scheduling",
          "first come, first served; a gang that would be spread lets others pass for a while; O(n types "
          "nodes)",
          "Zaharia et al., EuroSys 2010, §3, for consolidation as in Tiresias (NSDI 2019, §3.3)",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kDelaySchedulingParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const double patience = params.Number("patience", 0.0, 1e12);
            const double tolerate = params.Number("tolerate", 0.0, 1.0);
            return std::make_unique<DelayScheduling>(patience, tolerate, params.Bool(kOvertakeParam.name));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
