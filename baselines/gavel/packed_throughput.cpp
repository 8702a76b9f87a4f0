// max_sum_throughput_normalized_by_cost_packed_SLOs (OSDI 2020 §4.3; gavel/SPEC.md §2).
#include <cmath>

#include "baselines/gavel/packed_objective.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "baselines/gavel/throughput.hpp"

namespace berth::gavel {
namespace {

class Policy final : public PackedObjective {
 public:
  Policy(const ObjectiveOptions& options, bool with_deadlines)
      : with_deadlines_(with_deadlines), lp_(options.method, options.lp_time_limit_s) {}
  bool reads_future() const override { return with_deadlines_; }
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    return PackedThroughputPerCost(problem, lp_, Prices(problem.base), with_deadlines_, x);
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  bool with_deadlines_;
  PackedLp lp_;
};

}  // namespace

bool PackedThroughputPerCost(const PackedProblem& problem, PackedLp& lp, std::span<const double> price,
                             bool with_deadlines, PackedAllocation& x, bool* feasible) {
  const Problem& base = problem.base;
  const std::vector<Combo> combos = UsefulCombos(problem);
  std::vector<double> value, least;
  for (const Combo& combo : combos) {
    value.push_back((combo.rate_first + combo.rate_second) / price[static_cast<std::size_t>(combo.type)]);
  }
  for (std::size_t i = 0; with_deadlines && i < base.key.size(); ++i) {
    const bool ahead = std::isfinite(base.left[i]) && base.left[i] > 0.0;
    least.push_back(ahead ? base.remaining[i] / base.left[i] : 0.0);
  }
  LpStatus status = lp.MaximizeSum(problem, combos, value, least, x);
  if (feasible != nullptr) *feasible = status == LpStatus::kOptimal;
  if (status == LpStatus::kInfeasible && with_deadlines)
    status = lp.MaximizeSum(problem, combos, value, {}, x);
  return status == LpStatus::kOptimal;
}

std::unique_ptr<PackedObjective> MakePackedThroughputPerCost(const ObjectiveOptions& options,
                                                             Params& params) {
  return std::make_unique<Policy>(options, params.Choice("slo", {"ignore", "keep"}) == 1);
}

}  // namespace berth::gavel
