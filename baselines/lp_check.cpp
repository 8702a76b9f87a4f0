// Optimality from first principles. It knows the model and the claim (x, row duals), nothing of how they were
// found: reduced costs and both objectives are computed here.
#include <algorithm>
#include <cmath>

#include "baselines/lp.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

// A price times the bound that it pays for: the lower bound when positive, the upper when negative. A price
// on a bound that does not exist is dual infeasibility.
struct DualSum {
  double objective = 0.0, magnitude = 0.0, infeasibility = 0.0;

  void Add(double price, double lower, double upper, double scale) {
    if (price == 0.0) return;
    const double bound = price > 0.0 ? lower : upper;
    if (std::isinf(bound)) {
      infeasibility = std::max(infeasibility, std::abs(price) / scale);
      return;
    }
    objective += price * bound;
    magnitude += std::abs(price * bound);
  }
};

double Violation(double value, double lower, double upper, double scale) {
  return std::max({0.0, lower - value, value - upper}) / scale;
}

}  // namespace

Optimality CheckOptimality(const LpModel& model, const LpSolution& solution) {
  const std::size_t n = model.cost.size(), rows = model.row_lower.size();
  BERTH_CHECK(solution.x.size() == n && solution.row_dual.size() == rows, "a solution of another model");
  const double sense = model.maximize ? -1.0 : 1.0;  // everything below is a minimisation

  Optimality result;
  DualSum dual;
  double primal = 0.0, magnitude = 0.0;
  bool finite = true;
  std::vector<double> reduced(n), reduced_scale(n);
  for (std::size_t c = 0; c < n; ++c) {
    const double x = solution.x[c], cost = sense * model.cost[c];
    finite = finite && std::isfinite(x);
    primal += cost * x;
    magnitude += std::abs(cost * x);
    result.primal_infeasibility = std::max(result.primal_infeasibility,
                                           Violation(x, model.lower[c], model.upper[c], 1.0 + std::abs(x)));
    reduced[c] = cost;
    reduced_scale[c] = 1.0 + std::abs(cost);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const double price = sense * solution.row_dual[r];
    finite = finite && std::isfinite(price);
    double value = 0.0, scale = 1.0;
    for (int k = model.row_begin[r]; k < model.row_begin[r + 1]; ++k) {
      const auto c = static_cast<std::size_t>(model.column[static_cast<std::size_t>(k)]);
      const double a = model.coefficient[static_cast<std::size_t>(k)];
      value += a * solution.x[c];
      scale = std::max(scale, 1.0 + std::abs(a * solution.x[c]));
      reduced[c] -= price * a;
      reduced_scale[c] = std::max(reduced_scale[c], 1.0 + std::abs(price * a));
    }
    result.primal_infeasibility = std::max(result.primal_infeasibility,
                                           Violation(value, model.row_lower[r], model.row_upper[r], scale));
    dual.Add(price, model.row_lower[r], model.row_upper[r], 1.0 + std::abs(price));
  }
  for (std::size_t c = 0; c < n; ++c) dual.Add(reduced[c], model.lower[c], model.upper[c], reduced_scale[c]);
  result.dual_infeasibility = dual.infeasibility;
  result.gap = std::abs(primal - dual.objective) / (1.0 + std::max(magnitude, dual.magnitude));
  if (!finite) result.primal_infeasibility = kLpInfinity;  // NaN slips through the comparisons above
  return result;
}

namespace {

// Relative. A vertex is good to 1e-9; a point in the interior stops at 1e-8, the gap scaled by the objective.
constexpr double kTolerance = 1e-7;

}  // namespace

LpStatus CheckedLp::SolveOnly(LpMethod method) {
  const LpStatus status = solver_.Solve(model_, method, solution_, time_limit_s_);
  failure_ = Explain(status);
  if (status != LpStatus::kOptimal) return status;
  if (CheckOptimality(model_, solution_).Within(kTolerance)) return status;
  failure_ = "no LP answer passed the optimality check";
  ++failed_checks_;
  return LpStatus::kError;
}

LpStatus CheckedLp::Solve(LpMethod first) {
  LpStatus before = SolveOnly(first);
  if (before == LpStatus::kOptimal || before == LpStatus::kTimeLimit) return before;
  for (const LpMethod other : {LpMethod::kSimplex, LpMethod::kInteriorPoint}) {
    if (other == first) continue;
    const LpStatus status = SolveOnly(other);
    if (status == LpStatus::kOptimal || status == LpStatus::kTimeLimit) return status;
    if (status == before && status != LpStatus::kError) return status;
    before = status;
  }
  return LpStatus::kError;
}

}  // namespace berth
