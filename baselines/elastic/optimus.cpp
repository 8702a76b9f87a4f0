// Optimus' allocation: every job its least, then one GPU after another to whom it shortens the rest most
// (Peng, Bao, Chen, Wu & Guo, EuroSys 2018, §4.1: marginal gains, there of workers and parameter servers,
// here of GPUs, which are the dominant resource). Optimal for the sum of remaining times where speed-ups are
// concave and all jobs are on one type (Fox 1966). Where a step gains nothing (a curve with a plateau, groups
// of a model), the best average gain of several GPUs at once counts.
#include <algorithm>
#include <vector>

#include "baselines/elastic/width_plan.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kOptimusParams[] = {
    {"interval", "600", "s between allocations; in between jobs start on idle GPUs, on their least width"},
};

constexpr double kNoGpu = 1e-9;  // GPUs: a step that takes none comes first

class Optimus final : public Scheduler {
 public:
  explicit Optimus(double interval) : interval_(interval) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  bool resizes() const override { return true; }
  void Reset(const ClusterView&) override { next_ = 0.0; }

  void Decide(const ClusterView& view, Decision& decision) override {
    plan_.Begin(view);
    const bool allocate = view.now() >= next_;
    if (!allocate) {
      for (int job : view.running()) {
        if (plan_.WidthOf(job) == 0) plan_.Put(view, job, view.TypeOf(job), view.Width(job));
      }
      for (int job : view.waiting()) plan_.Place(view, job);
    } else {
      next_ = view.now() + interval_;
      for (int job : view.active()) plan_.Place(view, job);
      Widen(view);
    }
    plan_.MoveOffLeaving(view, decision);
    plan_.Emit(view, decision);
    if (interval_ > 0.0 && view.num_active() > 0) decision.wake_at = std::min(decision.wake_at, next_);
  }

 private:
  struct Step {
    double gain = 0.0;  // s less to go, for each GPU more that it takes
    int job = -1, width = 0;
  };

  // The best step of a job in the room that there is.
  Step Best(const ClusterView& view, int job) const {
    Step best;
    const int type = plan_.TypeOf(job), from = plan_.WidthOf(job);
    const double steps = view.RemainingSteps(job), now = steps / view.RateAt(job, type, from);
    const int reach = plan_.Reach(view, job);
    for (int width = from + 1; width <= reach; ++width) {
      const int costs = plan_.Costs(view, job, width);
      if (costs > plan_.room(type)) continue;
      const double rate = view.RateAt(job, type, width);
      if (rate <= 0.0) continue;
      const double gain = (now - steps / rate) / std::max<double>(costs, kNoGpu);
      if (gain > best.gain) best = {gain, job, width};
    }
    return best;
  }

  // Who stays takes no more than before; else room only shrinks: a step that still fits is still its job's
  // best.
  void Widen(const ClusterView& view) {
    const auto less = [](const Step& a, const Step& b) {
      return a.gain != b.gain ? a.gain < b.gain : a.job > b.job;
    };
    steps_.clear();
    const auto push = [&](int job) {
      const Step step = Best(view, job);
      if (step.job < 0) return;
      steps_.push_back(step);
      std::push_heap(steps_.begin(), steps_.end(), less);
    };
    for (int job : view.active()) {
      if (plan_.WidthOf(job) > 0) push(job);
    }
    while (!steps_.empty()) {
      std::pop_heap(steps_.begin(), steps_.end(), less);
      const Step step = steps_.back();
      steps_.pop_back();
      if (plan_.MayWiden(view, step.job, step.width)) plan_.Widen(view, step.job, step.width);
      push(step.job);
    }
  }

  double interval_;
  double next_ = 0.0;  // s, of the next allocation
  WidthPlan plan_;
  std::vector<Step> steps_;  // heap
};

}  // namespace

SchedulerInfo OptimusInfo() {
  return {"optimus",
          "elastic: GPUs one after another to the job whose rest they shorten most; O(GPUs widths log n)",
          "Peng et al., Optimus, EuroSys 2018, sec. 4.1",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kOptimusParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Optimus>(params.Number("interval", 0.0, 1e9));
          }};
}

}  // namespace berth
