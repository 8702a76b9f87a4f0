#include <vector>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/policy_source.hpp"
#include "tools/reproduce/runs.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"objective", "max_sum_throughput", "max_sum_throughput | max_throughput_per_cost"},
    {"slo", "ignore", "max_throughput_per_cost: ignore | keep"}};

const SchedulerInfo kRows[] = {
    {"gavel_strict", "a cost objective's allocation without hand-outs of idle GPUs",
     "Narayanan et al., OSDI 2020 §4.3", "", Knowledge::kBlind, /*preemptive=*/true, kParams,
     [](Params& params) -> std::unique_ptr<Scheduler> {
       const bool per_cost =
           params.Choice("objective", {"max_sum_throughput", "max_throughput_per_cost"}) == 1;
       const gavel::ObjectiveInfo row =
           per_cost ? gavel::MaxThroughputPerCostObjective() : gavel::MaxSumThroughputObjective();
       if (!per_cost) (void)params.Text("slo");
       gavel::ObjectiveOptions options;
       options.method =
           LpMethod::kSimplex;  // its zeros are zeros: an interior point would give a crumb of each type
       gavel::MechanismOptions mechanism;
       mechanism.only_positive = true;
       return gavel::RunInRounds(
           std::make_unique<gavel::PolicyAllocations>("gavel(objective=strict)", gavel::FallBack::kPrevious,
                                                      row.make(options, params)),
           mechanism);
     }}};

}  // namespace

std::span<const SchedulerTable> ReproductionSchedulers() {
  static const std::vector<SchedulerTable> tables = [] {
    std::vector<SchedulerTable> all(AllSchedulers().begin(), AllSchedulers().end());
    all.emplace_back(kRows);
    return all;
  }();
  return tables;
}

}  // namespace berth
