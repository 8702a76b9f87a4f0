// Earliest deadline first; jobs without a deadline come last, in arrival order. With preemption on one GPU it
// meets every deadline that can be met (Liu & Layland 1973; Dertouzos 1974).
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"preemptive", "true", "false: running jobs are left alone, and what does not fit is passed over"},
};

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
  }

 private:
  bool preemptive_;
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
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Edf>(params.Bool("preemptive"));
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
