// Simulated annealing (Kirkpatrick, Gelatt & Vecchi 1983) over the order of jobs and the type of each. A step
// moves a job in the order, swaps two, or, half of the time, changes a type. The temperature falls
// geometrically from 30% of the greedy plan's makespan, or 10% of its mean weighted completion, to a
// thousandth of that. Starts from the greedy plan and returns the best seen, so it is never worse than that;
// more iterations cool more slowly, which is better on average, not always. Draws come from the scenario's
// seed.
#include <algorithm>

#include "baselines/optimisation/planned.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

constexpr ParamInfo kAnnealingParams[] = {
    kTargetParam,
    {"iterations", "1000", "steps a plan"},
    kHorizonParam,
    kReportParam,
};

class Annealing final : public SeededSolver {
 public:
  Annealing(Target target, int iterations) : SeededSolver(target), iterations_(iterations) {}

  Solution Solve(const Instance& instance, bool bounded) override {
    Solution best;
    best.assignment = Greedy(instance, target_, best.value);
    if (bounded) best.bound = QuickBound(instance, target_);
    Assignment now = best.assignment, next;
    double value = best.value;
    double temperature = target_ == Target::kMakespan ? 0.3 * value : 0.1 * value / instance.jobs();
    const double cooling = Pow(1e-3, 1.0 / iterations_);
    for (int step = 0; step < iterations_; ++step, temperature *= cooling) {
      next = now;
      Change(instance, next);
      const double its = schedule_.Value(instance, next, target_);
      if (its > value && Uniform() >= Exp((value - its) / temperature)) continue;
      std::swap(now, next);
      value = its;
      if (value < best.value) best.value = value, best.assignment = now;
    }
    return best;
  }

 private:
  void Change(const Instance& instance, Assignment& assignment) {
    const int n = instance.jobs();
    const int a = Draw(n), kind = Draw(4);
    if (kind < 2) {
      const int type = Draw(instance.types());
      if (instance.at(a, type) < kNever) assignment.type[U(a)] = type;
      return;
    }
    const int b = Draw(n);
    auto& order = assignment.order;
    if (kind == 2) {
      std::swap(order[U(a)], order[U(b)]);
    } else {
      const int moved = order[U(a)];
      order.erase(order.begin() + a);
      order.insert(order.begin() + b, moved);
    }
  }

  int iterations_;
};

}  // namespace

SchedulerInfo AnnealingInfo() {
  return {"annealing",
          "plans by simulated annealing over orders and types; O(iterations n GPUs) an arrival",
          "Kirkpatrick, Gelatt & Vecchi 1983",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kAnnealingParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const Target target = ReadTarget(params);
            const auto iterations = static_cast<int>(params.Integer("iterations", 1, 1000000000));
            return MakePlanned("annealing", std::make_unique<Annealing>(target, iterations), params);
          }};
}

}  // namespace berth
