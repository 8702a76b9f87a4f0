#include "baselines/mip.hpp"

#include <interfaces/highs_c_api.h>

#include <algorithm>
#include <memory>

#include "baselines/solved_program.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

// `status`: kError where HiGHS fails.
MipAnswer RunHighs(const LpModel& model, const MipLimits& limits, std::span<const double> start,
                   LpStatus& status) {
  status = LpStatus::kError;
  const std::unique_ptr<void, void (*)(void*)> owner(Highs_create(), Highs_destroy);
  void* highs = owner.get();
  BERTH_CHECK(highs != nullptr, "HiGHS gives no instance");
  Highs_setBoolOptionValue(highs, "output_flag", 0);
  Highs_setBoolOptionValue(highs, "log_to_console", 0);
  Highs_setIntOptionValue(highs, "threads", 1);
  Highs_setStringOptionValue(highs, "parallel", "off");
  Highs_setDoubleOptionValue(highs, "mip_rel_gap", limits.gap);
  Highs_setDoubleOptionValue(highs, "mip_abs_gap", 0.0);
  // It took 60% of the time of small programs, whose feasible points are easy to find.
  Highs_setBoolOptionValue(highs, "mip_heuristic_run_feasibility_jump", 0);
  Highs_setIntOptionValue(highs, "mip_max_nodes", limits.nodes);
  Highs_setDoubleOptionValue(highs, "time_limit", limits.time_s);
  std::vector<HighsInt> whole(model.cost.size(), kHighsVarTypeContinuous);
  for (int column : model.integer) whole[static_cast<std::size_t>(column)] = kHighsVarTypeInteger;
  MipAnswer answer;
  if (Highs_passMip(highs, model.columns(), model.rows(), static_cast<HighsInt>(model.column.size()),
                    kHighsMatrixFormatRowwise,
                    model.maximize ? kHighsObjSenseMaximize : kHighsObjSenseMinimize, 0.0, model.cost.data(),
                    model.lower.data(), model.upper.data(), model.row_lower.data(), model.row_upper.data(),
                    model.row_begin.data(), model.column.data(), model.coefficient.data(),
                    whole.data()) == kHighsStatusError) {
    return answer;
  }
  if (!start.empty()) Highs_setSolution(highs, start.data(), nullptr, nullptr, nullptr);
  if (Highs_run(highs) == kHighsStatusError) return answer;
  HighsInt feasible = 0;
  Highs_getIntInfoValue(highs, "primal_solution_status", &feasible);
  answer.found = feasible == kHighsSolutionStatusFeasible;
  const HighsInt outcome = Highs_getModelStatus(highs);
  answer.proven = outcome == kHighsModelStatusOptimal;
  status = answer.proven                               ? LpStatus::kOptimal
           : outcome == kHighsModelStatusInfeasible    ? LpStatus::kInfeasible
           : outcome == kHighsModelStatusTimeLimit     ? LpStatus::kTimeLimit
           : outcome == kHighsModelStatusSolutionLimit ? LpStatus::kTimeLimit
                                                       : LpStatus::kError;
  Highs_getDoubleInfoValue(highs, "mip_dual_bound", &answer.bound);
  if (!answer.found) return answer;
  answer.x.resize(model.cost.size());
  std::vector<double> column_dual(model.cost.size()), row_value(model.row_lower.size()), row_dual(row_value);
  Highs_getSolution(highs, answer.x.data(), column_dual.data(), row_value.data(), row_dual.data());
  answer.objective = Highs_getObjectiveValue(highs);
  return answer;
}

}  // namespace

MipAnswer SolveMip(const LpModel& model, const MipLimits& limits, std::span<const double> start) {
  LpStatus status = LpStatus::kError;
  MipAnswer answer = RunHighs(model, limits, start, status);
  if (ProgramObserver())
    ProgramObserver()({model, status, answer.x, answer.objective, answer.bound, limits.gap});
  return answer;
}

}  // namespace berth
