// Least attained service: who has had least goes first, on the fastest type with room. Blind: nothing of the
// future is read. Service is GPU-seconds of the job's fastest type, so an hour on a slow type counts for less
// than one on a fast type, and a gang of four attains four times as fast as one GPU (Tiresias'
// two-dimensional LAS).
#include <algorithm>
#include <cmath>

#include "baselines/schedulers.hpp"
#include "env/plan.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"quantum", "3600", "GPU-seconds that count as equal service, in arrival order; 0 = none"},
    {"slice", "360",
     "s, clocks event and hpc: look again after this long while jobs wait; 0 = only at events"},
};

class Las final : public Scheduler {
 public:
  Las(double quantum, double slice) : quantum_(quantum), slice_(slice) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }

  void Decide(const ClusterView& view, Decision& decision) override {
    order_.clear();
    for (int job : view.active()) {
      double service = view.AttainedSteps(job) / view.BestRate(job) * view.Gang(job);
      if (quantum_ > 0.0) service = std::floor(service / quantum_);
      order_.push_back({service, job});
    }
    std::sort(order_.begin(), order_.end());
    plan_.Begin(view, /*preemptive=*/true);
    for (const auto& [service, job] : order_) {
      if (plan_.total_room() == 0) break;
      const int type = BestPlace(view, job);
      if (type >= 0) plan_.Put(view, job, type);
    }
    plan_.Emit(view, decision);
    if (slice_ > 0.0 && plan_.placed().size() < order_.size()) decision.wake_at = view.now() + slice_;
  }

 private:
  // The fastest type with room; where it runs, if that is as fast.
  int BestPlace(const ClusterView& view, int job) const {
    const int best = FastestFit(view, plan_, job);
    const int here = view.TypeOf(job);
    if (best < 0 || here < 0 || !plan_.Fits(view, job, here)) return best;
    return view.Rate(job, here) >= view.Rate(job, best) ? here : best;
  }

  double quantum_, slice_;
  Plan plan_;
  std::vector<std::pair<double, int>> order_;  // (service, job)
};

}  // namespace

SchedulerInfo LasInfo() {
  return {"las",
          "preemptive least attained service, normalised by the fastest type",
          "foreground-background queueing, Kleinrock 1976; GPU form: Tiresias, Gu et al., NSDI 2019",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const double quantum = params.Number("quantum", 0.0, 1e12);
            return std::make_unique<Las>(quantum, params.Number("slice", 0.0, 1e12));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
