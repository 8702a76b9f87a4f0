// Least attained service: who has had least goes first, on the fastest type with room. Blind: nothing of the
// future is read. Service is GPU-seconds of the job's fastest type, so an hour on a slow type counts for less
// than one on a fast type, and a gang of four attains four times as fast as one GPU (Tiresias'
// two-dimensional LAS).
#include <cmath>

#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

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
    plan_.Begin(view, /*preemptive=*/true);
    FillByRank(view, order_, plan_);
    plan_.Emit(view, decision);
    if (slice_ > 0.0 && plan_.placed().size() < order_.size()) decision.wake_at = view.now() + slice_;
  }

 private:
  double quantum_, slice_;
  Plan plan_;
  Ranking order_;  // by service
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
