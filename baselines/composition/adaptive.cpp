// Switches between schedulers by what they did at the present load: a bandit (UCB1) for each level of load,
// which it measures at the start of an epoch: GPUs that jobs in the system need over GPUs, below 1, below 2,
// or more. An epoch's reward is 1 / (1 + jobs in system per GPU, on average over the epoch). A scheduler that
// is switched to starts afresh: it knows the jobs in the system, not its own past.
#include <algorithm>

#include "baselines/composition/inner.hpp"
#include "baselines/composition/ucb1.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr ParamInfo kAdaptiveParams[] = {
    {"arms", "fcfs|srpt", "the schedulers to switch between, as in fcfs|srpt|las(quantum=600)"},
    {"epoch", "3600", "s between choices; clocks with rounds choose at the boundary after"},
};

class Adaptive final : public Scheduler {
 public:
  Adaptive(double epoch, std::vector<Inner> arms) : epoch_(epoch), arms_(std::move(arms)) {}
  Knowledge knowledge() const override {
    Knowledge most = Knowledge::kNone;
    for (const Inner& arm : arms_) most = std::max(most, arm.knowledge());
    return most;
  }
  bool resizes() const override {
    return std::any_of(arms_.begin(), arms_.end(), [](const Inner& arm) { return arm.resizes(); });
  }

  void Reset(const ClusterView& view) override {
    bandits_.assign(3, Ucb1(static_cast<int>(arms_.size())));
    for (Inner& arm : arms_) arm.Reset(view);
    arm_ = -1;
    area_ = 0.0;
    seen_ = begin_ = view.now();
    in_system_ = 0;
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    area_ += in_system_ * (view.now() - seen_);
    seen_ = view.now();
    in_system_ = static_cast<double>(view.active().size());
    if (arm_ < 0 || view.now() >= begin_ + epoch_) Switch(view);
    arms_[static_cast<std::size_t>(arm_)].DecideAll(view, decision);
    if (!view.active().empty() && arms_.size() > 1)
      decision.wake_at = std::min(decision.wake_at, begin_ + epoch_);
  }

 private:
  // The level of load: 0, 1 or 2.
  static std::size_t Level(const ClusterView& view) {
    double need = 0.0, gpus = 0.0;
    for (int job : view.active()) need += view.Gang(job);
    for (const GpuType& type : view.types()) gpus += type.count;
    return need < gpus ? 0 : need < 2.0 * gpus ? 1 : 2;
  }

  void Switch(const ClusterView& view) {
    double gpus = 0.0;
    for (const GpuType& type : view.types()) gpus += type.count;
    if (arm_ >= 0) {
      const double mean = area_ > 0.0 ? area_ / (view.now() - begin_) : 0.0;
      // Nobody there is the best there is, on no GPU too.
      bandits_[level_].Reward(arm_, mean > 0.0 ? 1.0 / (1.0 + mean / gpus) : 1.0);
    }
    level_ = Level(view);
    const int next = bandits_[level_].Choose();
    if (next != arm_ && arm_ >= 0) arms_[static_cast<std::size_t>(next)].Reset(view);
    arm_ = next;
    area_ = 0.0;
    begin_ = view.now();
  }

  double epoch_;
  std::vector<Inner> arms_;
  std::vector<Ucb1> bandits_;  // [levels]
  int arm_ = -1;               // -1 = none yet
  std::size_t level_ = 0;
  double begin_ = 0.0, seen_ = 0.0;  // s
  double area_ = 0.0;                // job-seconds of the epoch
  double in_system_ = 0.0;           // jobs since `seen_`
};

}  // namespace

SchedulerInfo AdaptiveInfo() {
  return {
      "adaptive",
      "switches between schedulers by measured load, a UCB1 bandit for each level of load; the arm's cost",
      "Auer, Cesa-Bianchi & Fischer 2002; self-tuning as in dynP, Streit, JSSPP 2002",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/true,
      kAdaptiveParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        std::vector<Inner> arms;
        for (const std::string& spec : SplitOutsideParentheses(params.Text("arms"), '|')) {
          arms.emplace_back("adaptive: parameter 'arms'", spec);
        }
        if (arms.empty()) throw Error("adaptive: parameter 'arms': expected schedulers, as in fcfs|srpt");
        return std::make_unique<Adaptive>(params.Number("epoch", 1e-3, 1e12), std::move(arms));
      },
      /*claims=*/{.types = true}};
}

}  // namespace berth
