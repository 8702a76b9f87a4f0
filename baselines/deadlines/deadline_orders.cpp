// Rules that go by deadlines alone: who must end first, and who has least time to spare.
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kEdfParams[] = {
    {"preemptive", "true", "false: running jobs are left alone, and what does not fit is passed over"},
};

// Earliest deadline first; jobs without a deadline come last, in arrival order. With preemption on one GPU it
// meets every deadline that can be met (Liu & Layland 1973; Dertouzos 1974).
class Edf final : public Scheduler {
 public:
  explicit Edf(bool preemptive) : preemptive_(preemptive) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }

  void Decide(const ClusterView& view, Decision& decision) override {
    order_.clear();
    for (int job : preemptive_ ? view.active() : view.waiting()) order_.push_back({view.Deadline(job), job});
    plan_.Begin(view, preemptive_);
    FillByRank(view, order_, plan_);
    plan_.Emit(view, decision);
    OfferIdle(view, plan_, order_, decision);
  }

 private:
  bool preemptive_;
  Plan plan_;
  Ranking order_;
};

constexpr ParamInfo kLaxityParams[] = {
    kSliceParam,
};

// Least laxity first: laxity = deadline - now - seconds left on the fastest type. A running job keeps its
// place until another's laxity is less by more than a stop, a restart and a move cost together, so that two
// jobs of equal laxity do not stop each other for ever.
class LeastLaxity final : public Scheduler {
 public:
  explicit LeastLaxity(double slice) : slice_(slice) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

  void Decide(const ClusterView& view, Decision& decision) override {
    order_.clear();
    for (int job : view.active()) {
      const double laxity = view.Deadline(job) - view.now() - view.RemainingSteps(job) / view.BestRate(job);
      order_.push_back(
          {laxity - (view.IsRunning(job) ? StartSeconds(view, job, view.TypeOf(job), -1) : 0.0), job});
    }
    plan_.Begin(view, /*preemptive=*/true);
    FillByRank(view, order_, plan_);
    plan_.Emit(view, decision);
    OfferIdle(view, plan_, order_, decision);
    if (slice_ > 0.0 && plan_.placed().size() < order_.size())
      decision.wake_at = std::min(decision.wake_at, view.now() + slice_);
  }

 private:
  double slice_;
  Plan plan_;
  Ranking order_;
};

}  // namespace

SchedulerInfo EdfInfo() {
  return {"edf",
          "preemptive earliest deadline first, on the fastest type with room; O(n log n)",
          "Liu & Layland 1973; Dertouzos 1974",
          "",
          Knowledge::kNone,
          /*preemptive=*/true,
          kEdfParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Edf>(params.Bool("preemptive"));
          },
          /*claims=*/{.types = true, .times = true}};
}

SchedulerInfo LeastLaxityInfo() {
  return {
      "least_laxity",
      "preemptive: least time to spare until the deadline first, on the fastest type with room; O(n log n)",
      "Mok 1983; Dertouzos & Mok 1989",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/true,
      kLaxityParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        return std::make_unique<LeastLaxity>(ReadSlice(params));
      },
      /*claims=*/{.types = true}};
}

}  // namespace berth
