// The two objectives that need no solver: every job its part of every type (gavel/SPEC.md §1-2).
#include "baselines/gavel/objective_list.hpp"

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

}  // namespace berth::gavel
