// Proportional fairness (Kelly, Maulloo & Tan 1998) is the largest Nash welfare (Nash 1950; Eisenberg & Gale
// 1959): no other allocation raises the sum of relative changes of throughput. strategy_proof discounts it.
#include "baselines/gavel/nash_welfare.hpp"
#include "baselines/gavel/objective_list.hpp"

namespace berth::gavel {
namespace {

class ProportionalFairness final : public Objective {
 public:
  bool Allocate(const Problem& problem, Allocation& x) override {
    NashAnswer answer;
    if (!NashWelfare(problem, answer)) return false;
    x = std::move(answer.x);
    return true;
  }
  const char* failure() const override { return "the gap of Nash welfare stays open"; }
};

}  // namespace

ObjectiveInfo ProportionalFairnessObjective() {
  return {.summary = "largest product of throughputs (Nash welfare)",
          .source = "Kelly, Maulloo & Tan 1998; Eisenberg & Gale 1959",
          .aware_name = "",
          .agnostic_name = "",
          .awareness = Awareness::kAwareOnly,
          .make = [](const ObjectiveOptions&, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<ProportionalFairness>();
          }};
}

}  // namespace berth::gavel
