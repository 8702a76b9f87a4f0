// First come, first served onto the type with the most room that fits.
#include "baselines/load_balancing/fit.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {kOvertakeParam};

}  // namespace

SchedulerInfo WorstFitInfo() {
  return {
      "worst_fit",
      "first come, first served onto the type with the most room that fits, the faster on ties; O(n types)",
      "bin packing: Johnson, Demers, Ullman, Garey & Graham 1974",
      "",
      Knowledge::kNone,
      /*preemptive=*/false,
      kParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        return std::make_unique<Fit>(/*tightest=*/false, params.Bool(kOvertakeParam.name));
      },
      /*claims=*/{.times = true}};
}

}  // namespace berth
