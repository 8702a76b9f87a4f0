// `gavel(objective=proportional_fairness)` by its usual name.
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/policy_allocations.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"reset_s", "1920", "s, clocks with rounds: least time between two allocations"},
};

}  // namespace

SchedulerInfo ProportionalFairnessInfo() {
  return {"proportional_fairness",
          "GPU time by the largest Nash welfare of throughputs, run in rounds; O(n types^2) an iteration",
          "Kelly, Maulloo & Tan 1998; Eisenberg & Gale 1959; rounds: Narayanan et al., OSDI 2020",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const gavel::ObjectiveInfo info = gavel::ProportionalFairnessObjective();
            gavel::MechanismOptions options;
            options.shuffle_types = false;
            options.min_reset_s = params.Number("reset_s", 0.0, 1e9);
            return gavel::RunInRounds(std::make_unique<gavel::PolicyAllocations>(
                                          "proportional_fairness", info.fall_back, info.make({}, params)),
                                      options);
          }};
}

}  // namespace berth
