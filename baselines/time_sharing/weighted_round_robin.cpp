// Weighted time slicing by stride scheduling: GPU-seconds in proportion to weights, within a quantum. The
// deterministic form of lottery scheduling (Waldspurger & Weihl 1994).
#include "baselines/schedulers.hpp"
#include "baselines/time_sharing/turns.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kQuantumParam};

}  // namespace

SchedulerInfo WeightedRoundRobinInfo() {
  return {
      "weighted_round_robin",
      "preemptive stride scheduling: GPU-seconds in proportion to weights, a quantum at a time; O(n log n)",
      "Waldspurger & Weihl, stride scheduling, MIT/LCS/TM-528, 1995",
      "",
      Knowledge::kBlind,
      /*preemptive=*/true,
      kParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        return std::make_unique<Turns>(params.Number(kQuantumParam.name, 1e-3, 1e12), /*charged=*/true);
      },
      /*claims=*/{.types = true}};
}

}  // namespace berth
