// Round robin: every job has a quantum in turn. Processor sharing is its limit for short quanta.
#include "baselines/schedulers.hpp"
#include "baselines/time_sharing/turns.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kQuantumParam};

}  // namespace

SchedulerInfo RoundRobinInfo() {
  return {"round_robin",
          "preemptive: every job has a quantum in turn, on the fastest type with room; O(n log n)",
          "Kleinrock 1964; processor sharing in the limit, Kleinrock 1967",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Turns>(params.Number(kQuantumParam.name, 1e-3, 1e12), /*charged=*/false);
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
