// The objectives that are one call: every job its part of every type, and the largest Nash welfare.
#include <optional>

#include "baselines/gavel/nash_welfare.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "baselines/time_left.hpp"

namespace berth::gavel {
namespace {

template <Allocation (*Split)(const Problem&)>
class SplitPolicy final : public Objective {
 public:
  bool Allocate(const Problem& problem, Allocation& x) override {
    x = Split(problem);
    return true;
  }
};

// Proportional fairness (Kelly, Maulloo & Tan 1998) is the largest Nash welfare (Nash 1950; Eisenberg & Gale
// 1959): no other allocation raises the sum of relative changes of throughput. strategy_proof discounts it.
class ProportionalFairness final : public Objective {
 public:
  explicit ProportionalFairness(const ObjectiveOptions& options) : time_limit_s_(options.lp_time_limit_s) {
    if (options.warm) memory_.emplace();
  }
  void Reset(std::uint64_t) override {
    if (memory_) memory_->start = {};
  }
  bool Allocate(const Problem& problem, Allocation& x) override {
    NashAnswer answer;
    const TimeLeft left(time_limit_s_);
    if (!NashWelfare(problem, answer, memory_ ? &*memory_ : nullptr, left.seconds())) {
      failure_ = left.over() ? Explain(LpStatus::kTimeLimit) : kGapStaysOpen;
      return false;
    }
    x = std::move(answer.x);
    return true;
  }
  void Promised(const Problem& problem, const Allocation& x, Promise& promise) const override {
    promise.worth = problem.throughput;
    promise.least = EffectiveThroughput(problem, x);
  }
  const char* failure() const override { return failure_; }

 private:
  static constexpr const char* kGapStaysOpen = "the gap of Nash welfare stays open";
  double time_limit_s_;
  const char* failure_ = kGapStaysOpen;
  std::optional<ShareMemory> memory_;
};

}  // namespace

ObjectiveInfo IsolatedObjective() {
  return {.summary = "every job the m-th part of every type",
          .source = "OSDI 2020 §4.2",
          .aware_name = "isolated",
          .agnostic_name = "",
          .awareness = Awareness::kIndifferent,
          .make = [](const ObjectiveOptions&, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<SplitPolicy<IsolatedAllocation>>();
          }};
}

// With several jobs of a type's share each, the sum over jobs exceeds the cluster: the mechanism takes the
// allocation as relative priorities, as the reference's would.
ObjectiveInfo ProportionalObjective() {
  return {.summary = "every job on each type for the type's part of all GPUs",
          .source = "OSDI 2020 §4.1",
          .aware_name = "proportional",
          .agnostic_name = "",
          .awareness = Awareness::kIndifferent,
          .make = [](const ObjectiveOptions&, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<SplitPolicy<ProportionalAllocation>>();
          }};
}

ObjectiveInfo ProportionalFairnessObjective() {
  return {.summary = "largest product of throughputs (Nash welfare)",
          .source = "Kelly, Maulloo & Tan 1998; Eisenberg & Gale 1959",
          .aware_name = "",
          .agnostic_name = "",
          .awareness = Awareness::kAwareOnly,
          .ties = true,
          .warm = true,
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<ProportionalFairness>(options);
          }};
}

}  // namespace berth::gavel
