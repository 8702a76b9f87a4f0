// Gandiva's random packing, run by Gavel's round mechanism: the baseline that Gavel's packed policies are
// measured against.
#include "baselines/gavel/gandiva.hpp"

#include "baselines/gavel/packed_allocations.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"reset_s", "1920", "s, clocks with rounds: least time between two allocations"},
};

}  // namespace

SchedulerInfo GandivaInfo() {
  return {
      "gandiva",
      "pairs jobs at random when there are more than GPUs, drops pairs that gain nothing; O(n types) a round",
      "Xiao et al., OSDI 2018, in the form of Narayanan et al., OSDI 2020",
      "gandiva",
      Knowledge::kBlind,
      /*preemptive=*/true,
      kParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        gavel::MechanismOptions options;
        options.min_reset_s = params.Number("reset_s", 0.0, 1e9);
        return gavel::RunInRounds(
            std::make_unique<gavel::PackedAllocations>("gandiva", gavel::FallBack::kIsolated,
                                                       std::make_unique<gavel::GandivaPacking>()),
            options);
      }};
}

}  // namespace berth
