#include <algorithm>
#include <numeric>

#include "baselines/optimisation/insertion.hpp"
#include "baselines/optimisation/places.hpp"
#include "baselines/optimisation/programs.hpp"
#include "baselines/optimisation/rule_plans.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// Rules' plans that insertion improves, of which of many jobs the best alone: it takes O(n^3 G).
constexpr std::size_t kStarts = 3;
constexpr int kManyJobs = 32;

// The longest first is the better list for the makespan where a type has several GPUs; for the sum Smith's
// rule. Each job by its time on the type that it has been given.
std::vector<int> OrderFor(const Instance& instance, const std::vector<int>& type, Target target) {
  std::vector<int> order(instance.job.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int i) {
    const double seconds = instance.at(i, type[U(i)]);
    return target == Target::kMakespan ? -seconds : instance.gang[U(i)] * seconds / instance.weight[U(i)];
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  return order;
}

// The program's plan, none where it has none; its bound where that is greater.
Assignment BranchAndCut(const Instance& instance, Target target, const MipLimits& limits, double& bound) {
  LoadModel model = target == Target::kMakespan ? MakespanModel(instance, kNever) : CompletionModel(instance);
  for (const auto& row : model.column) {
    for (int column : row) {
      if (column >= 0) model.lp.integer.push_back(column);
    }
  }
  const MipAnswer answer = SolveMip(model.lp, limits);
  bound = std::max(bound, answer.bound);
  Assignment plan;
  if (!answer.found) return plan;
  for (const auto& row : model.column) {
    int chosen = -1;
    for (std::size_t type = 0; type < row.size(); ++type) {
      if (row[type] >= 0 && (chosen < 0 || answer.x[U(row[type])] > answer.x[U(row[U(chosen)])]))
        chosen = static_cast<int>(type);
    }
    plan.type.push_back(chosen);
  }
  plan.order = OrderFor(instance, plan.type, target);
  return plan;
}

class Milp final : public Solver {
 public:
  Milp(Target target, const MipLimits& limits, int branch)
      : target_(target), limits_(limits), branch_(branch) {}
  Target target() const override { return target_; }
  Solution Solve(const Instance& instance, bool) override {
    return SolveMilp(instance, target_, limits_, branch_);
  }

 private:
  Target target_;
  MipLimits limits_;
  int branch_;
};

constexpr ParamInfo kMilpParams[] = {
    kTargetParam,
    {"gap", "0.02", "stop when the plan is proven this close to the optimum, relative"},
    {"nodes", "200", "of the search tree, at most: repeatable on every machine"},
    {"time_limit_s", "inf", "s a program may take, then its best plan so far stands; not repeatable"},
    {"branch", "6",
     "jobs that a search tree is for, at most: gangs, weights, makespans; more go by rules and insertion"},
    kHorizonParam,
    kReportParam,
};

}  // namespace

Solution SolveMilp(const Instance& instance, Target target, const MipLimits& limits, int branch) {
  Solution best;
  if (target == Target::kWeightedCompletion && HasPlaces(instance)) {
    best.assignment = PlaceFromTheEnd(instance);
    best.value = best.bound = ListSchedule().Value(instance, best.assignment, target);
    return best;
  }
  best.value = kNever;
  best.bound = QuickBound(instance, target);
  const auto take = [&](double value, Assignment& plan) {  // of equal plans the first
    if (value < best.value) best.value = value, best.assignment = std::move(plan);
  };
  const auto proven = [&] {
    return best.value < kNever && best.value - best.bound <= limits.gap * best.value;
  };
  std::vector<ValuedPlan> rules = RulePlans(instance, target);
  const std::size_t starts = instance.jobs() > kManyJobs ? 1 : kStarts;
  for (std::size_t k = 0; k < starts && !proven(); ++k) {
    take(Improve(instance, target, rules[k].plan), rules[k].plan);
  }
  if (proven()) return best;
  Assignment plan;
  if (instance.jobs() <= branch) {
    plan = BranchAndCut(instance, target, limits, best.bound);
  } else if (target == Target::kMakespan) {
    CheckedLp lp(LpMethod::kSimplex);
    RoundedAssignment rounded = RoundAssignmentLp(instance, lp);
    best.bound = std::max(best.bound, rounded.bound);
    plan = std::move(rounded.assignment);
  }
  if (!plan.order.empty()) take(Improve(instance, target, plan), plan);
  return best;
}

SchedulerInfo MilpInfo() {
  return {
      "milp",
      "plans by assignment, exact for single GPUs and equal weights; else rules, an integer program of few "
      "jobs, insertion; O(n^3) an arrival",
      "Horn 1973, Bruno, Coffman & Sethi 1974 (the assignment); Graham et al. 1979; HiGHS (branch and cut)",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/false,
      kMilpParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        const Target target = ReadTarget(params);
        MipLimits limits;
        limits.gap = params.Number("gap", 0.0, 1.0);
        limits.nodes = static_cast<int>(params.Integer("nodes", 0, 2000000000));
        limits.time_s = params.Number("time_limit_s", 0.0, kNever);
        const auto branch = static_cast<int>(params.Integer("branch", 1, 1000000));
        return MakePlanned("milp", std::make_unique<Milp>(target, limits, branch), params);
      }};
}

}  // namespace berth
