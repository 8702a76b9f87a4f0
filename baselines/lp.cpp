#include "baselines/lp.hpp"

#include <interfaces/highs_c_api.h>

#include "baselines/embedding.hpp"
#include "baselines/solved_program.hpp"
#include "env/base/check.hpp"

namespace berth {

int LpModel::AddColumn(double its_cost, double its_lower, double its_upper, double its_members) {
  column_members.push_back(its_members);
  cost.push_back(its_cost);
  lower.push_back(its_lower);
  upper.push_back(its_upper);
  return columns() - 1;
}

void LpModel::AddEntry(int in_column, double its_coefficient, double its_in_row) {
  BERTH_DCHECK(in_column >= 0 && in_column < columns(), "column ", in_column, " of ", columns());
  if (its_coefficient == 0.0) return;
  column.push_back(in_column);
  coefficient.push_back(its_coefficient);
  in_row.push_back(its_in_row);
}

void LpModel::EndRow(double its_lower, double its_upper, double its_members) {
  row_members.push_back(its_members);
  row_lower.push_back(its_lower);
  row_upper.push_back(its_upper);
  row_begin.push_back(static_cast<int>(column.size()));
}

void LpModel::Clear() {
  maximize = false;
  for (auto* values : {&cost, &lower, &upper, &row_lower, &row_upper, &coefficient, &column_members,
                       &row_members, &in_row}) {
    values->clear();
  }
  column.clear();
  integer.clear();
  row_begin.assign(1, 0);
}

const char* ToString(LpStatus status) {
  switch (status) {
    case LpStatus::kOptimal:
      return "optimal";
    case LpStatus::kInfeasible:
      return "infeasible";
    case LpStatus::kUnbounded:
      return "unbounded";
    case LpStatus::kTimeLimit:
      return "time limit";
    case LpStatus::kError:
      return "error";
  }
  return "?";
}

const char* Explain(LpStatus status) {
  switch (status) {
    case LpStatus::kOptimal:
      return "the LP solver: optimal";
    case LpStatus::kInfeasible:
      return "the LP solver: infeasible";
    case LpStatus::kUnbounded:
      return "the LP solver: unbounded";
    case LpStatus::kTimeLimit:
      return "the LP solver: time limit";
    case LpStatus::kError:
      return "the LP solver: error";
  }
  return "?";
}

std::function<void(const SolvedProgram&)>& ProgramObserver() {
  static std::function<void(const SolvedProgram&)> observer;
  return observer;
}

struct LpSolver::Instance {
  Instance() : highs(Highs_create()) {
    BERTH_CHECK(highs != nullptr, "HiGHS gives no instance");
    Highs_setBoolOptionValue(highs, "output_flag", 0);
    Highs_setBoolOptionValue(highs, "log_to_console", 0);
    Highs_setIntOptionValue(highs, "threads", 1);
    Highs_setDoubleOptionValue(highs, "primal_feasibility_tolerance", 1e-9);
    Highs_setDoubleOptionValue(highs, "dual_feasibility_tolerance", 1e-9);
  }
  ~Instance() { Highs_destroy(highs); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  LpStatus Solve(const LpModel& model, LpMethod method, LpSolution& solution, double time_limit_s);

  void* highs;
  std::vector<double> column_dual, row_value;
};

LpSolver::LpSolver() : instance_(std::make_unique<Instance>()) {}
LpSolver::~LpSolver() = default;
LpSolver::LpSolver(LpSolver&&) noexcept = default;
LpSolver& LpSolver::operator=(LpSolver&&) noexcept = default;

LpStatus LpSolver::Solve(const LpModel& model, LpMethod method, LpSolution& solution, double time_limit_s) {
  const LpStatus status = instance_->Solve(model, method, solution, time_limit_s);
  if (ProgramObserver()) {
    SolvedProgram solved{model, status};
    if (status == LpStatus::kOptimal)
      solved.x = solution.x, solved.objective = solved.bound = solution.objective;
    ProgramObserver()(solved);
  }
  return status;
}

LpStatus LpSolver::Instance::Solve(const LpModel& model, LpMethod method, LpSolution& solution,
                                   double time_limit_s) {
  BERTH_CHECK(model.integer.empty() || method == LpMethod::kSimplex, "whole columns are for kSimplex");
  if (method == LpMethod::kEmbedding) return SolveEmbedding(model, solution, time_limit_s);
  const bool interior = method == LpMethod::kInteriorPoint;
  Highs_setStringOptionValue(highs, "solver", interior ? "ipx" : "simplex");
  Highs_setStringOptionValue(highs, "run_crossover", interior ? "off" : "on");
  Highs_setStringOptionValue(highs, "presolve", interior ? "off" : "choose");
  Highs_zeroAllClocks(highs);  // the time limit counts from here
  Highs_setDoubleOptionValue(highs, "time_limit", time_limit_s);

  const auto nonzeros = static_cast<HighsInt>(model.column.size());
  if (Highs_passLp(highs, model.columns(), model.rows(), nonzeros, kHighsMatrixFormatRowwise,
                   model.maximize ? kHighsObjSenseMaximize : kHighsObjSenseMinimize, 0.0, model.cost.data(),
                   model.lower.data(), model.upper.data(), model.row_lower.data(), model.row_upper.data(),
                   model.row_begin.data(), model.column.data(),
                   model.coefficient.data()) == kHighsStatusError) {
    return LpStatus::kError;
  }
  for (int whole : model.integer) {
    if (Highs_changeColIntegrality(highs, whole, kHighsVarTypeInteger) == kHighsStatusError)
      return LpStatus::kError;
  }
  if (Highs_run(highs) == kHighsStatusError) return LpStatus::kError;
  HighsInt status = Highs_getModelStatus(highs);
  if (status == kHighsModelStatusUnboundedOrInfeasible) {  // presolve cannot tell which
    Highs_setStringOptionValue(highs, "presolve", "off");
    Highs_setStringOptionValue(highs, "solver", "simplex");
    if (Highs_run(highs) == kHighsStatusError) return LpStatus::kError;
    status = Highs_getModelStatus(highs);
  }
  switch (status) {
    case kHighsModelStatusOptimal:
      break;
    case kHighsModelStatusInfeasible:
      return LpStatus::kInfeasible;
    case kHighsModelStatusUnbounded:
      return LpStatus::kUnbounded;
    case kHighsModelStatusTimeLimit:
      return LpStatus::kTimeLimit;
    default:
      return LpStatus::kError;
  }
  solution.x.resize(model.cost.size());
  solution.row_dual.resize(model.row_lower.size());
  column_dual.resize(model.cost.size());
  row_value.resize(model.row_lower.size());
  Highs_getSolution(highs, solution.x.data(), column_dual.data(), row_value.data(), solution.row_dual.data());
  solution.objective = Highs_getObjectiveValue(highs);
  return LpStatus::kOptimal;
}

}  // namespace berth
