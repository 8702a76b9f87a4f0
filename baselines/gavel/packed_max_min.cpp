// max_min_fairness_packed (OSDI 2020 §4.1 with §4.4; gavel/SPEC.md §3).
#include "baselines/gavel/packed_classes.hpp"
#include "baselines/gavel/packed_objective.hpp"
#include "baselines/gavel/packed_objectives.hpp"

namespace berth::gavel {

bool PackedMaxMin(const PackedProblem& problem, PackedLp& lp, PackedAllocation& x, double* level) {
  // A vertex is one of the program job by job.
  if (!problem.kind.empty() && lp.method() != LpMethod::kSimplex) {
    const PackedClasses classes = ClassesOf(problem);
    PackedAllocation of_classes;
    if (!PackedMaxMin(classes.one, lp, of_classes, level)) return false;
    x = Spread(classes, of_classes);
    return true;
  }
  std::vector<double> scale = ProportionalThroughput(problem.base);
  for (std::size_t i = 0; i < scale.size(); ++i) {
    scale[i] = problem.base.gang[i] / (problem.base.weight[i] * scale[i]);
  }
  PackedLevel answer;
  if (!lp.Maximize(problem, UsefulCombos(problem), scale, lp.method(), answer)) return false;
  x = std::move(answer.x);
  if (level != nullptr) *level = answer.level;
  return true;
}

namespace {

class Policy final : public PackedObjective {
 public:
  explicit Policy(const ObjectiveOptions& options) : lp_(options.method, options.lp_time_limit_s) {}
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    return PackedMaxMin(problem, lp_, x);
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  PackedLp lp_;
};

}  // namespace

std::unique_ptr<PackedObjective> MakePackedMaxMin(const ObjectiveOptions& options, Params&) {
  return std::make_unique<Policy>(options);
}

}  // namespace berth::gavel
