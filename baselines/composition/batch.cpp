// A batch accumulation window: arrivals are held back and handed to the inner scheduler together, at
// multiples of the window. It then chooses among more jobs, at the price of the wait.
#include <algorithm>
#include <cmath>

#include "baselines/composition/inner.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kBatchParams[] = {
    {"window", "60", "s between releases; clocks with rounds release at the boundary after; 0 = at once"},
    {"inner", "sjf", "the scheduler that sees the released jobs"},
};

class Batch final : public Scheduler {
 public:
  Batch(double window, Inner inner) : window_(window), inner_(std::move(inner)) {}
  Knowledge knowledge() const override { return inner_.knowledge(); }
  bool resizes() const override { return inner_.resizes(); }

  void Reset(const ClusterView& view) override {
    inner_.Reset(view);
    release_.assign(U(view.num_jobs()), -1.0);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    inner_.Begin(view);
    // Clock reference_rounds has no wake-ups: held jobs must not be all that is left.
    const bool all = view.arrivals_over() && view.running().empty();
    double next = kNever;
    for (int job : view.active()) {
      double& release = release_[U(job)];
      if (view.LastTypeOf(job) >= 0) release = 0.0;  // it has run: released before Reset
      if (release < 0.0) release = window_ > 0.0 ? std::ceil(view.now() / window_) * window_ : view.now();
      if (all || release <= view.now()) {
        release = 0.0;
        inner_.Show(view, job);
      } else {
        next = std::min(next, release);
      }
    }
    inner_.Decide(view, decision);
    decision.wake_at = std::min(decision.wake_at, next);
  }

 private:
  double window_;
  Inner inner_;
  std::vector<double> release_;  // [J] s; -1 = not seen, 0 = released
};

}  // namespace

SchedulerInfo BatchInfo() {
  return {"batch",
          "holds arrivals back for a window, then hands them to an inner scheduler together; O(n) + inner's",
          "Berth: batch mode of Maheswaran, Ali, Siegel, Hensgen & Freund, HCW 1999, over any scheduler",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kBatchParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const double window = params.Number("window", 0.0, 1e12);
            return std::make_unique<Batch>(window, Inner("batch: parameter 'inner'", params.Text("inner")));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
