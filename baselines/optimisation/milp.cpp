#include <algorithm>
#include <numeric>

#include "baselines/optimisation/programs.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// Smith's rule on a type: most weight for a GPU-second first, which is the best order on one machine.
std::vector<int> SmithOrder(const Instance& instance, int type) {
  std::vector<int> order;
  for (int i = 0; i < instance.jobs(); ++i) {
    if (instance.at(i, type) < kNever) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return instance.gang[U(a)] * instance.at(a, type) * instance.weight[U(b)] <
           instance.gang[U(b)] * instance.at(b, type) * instance.weight[U(a)];
  });
  return order;
}

// Sum of weight x completion on a machine of C GPUs that take jobs from f on, in Smith's order: a job of
// GPU-seconds a and length p ends no sooner than f + (a of those before it) / C + (a / C + p) / 2, by its
// mean busy time (for gangs of one: Eastman, Even & Isaacs 1964; for C = 1 exact). y_ik = 1 when i is before
// k on the type, at least x_i + x_k - 1.
LoadModel CompletionModel(const Instance& instance) {
  LoadModel model;
  LpModel& lp = model.lp;
  model.column.assign(instance.job.size(), std::vector<int>(instance.free_at.size(), -1));
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int type = 0; type < instance.types(); ++type) {
      const double seconds = instance.at(i, type);
      if (seconds == kNever) continue;
      const auto& free_at = instance.free_at[U(type)];
      const double alone = instance.gang[U(i)] * seconds / static_cast<double>(free_at.size());
      model.column[U(i)][U(type)] =
          lp.AddColumn(instance.weight[U(i)] * (free_at.front() + (alone + seconds) / 2.0), 0.0, 1.0);
    }
  }
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int column : model.column[U(i)]) {
      if (column >= 0) lp.AddEntry(column, 1.0);
    }
    lp.EndRow(1.0, 1.0);
  }
  for (int type = 0; type < instance.types(); ++type) {
    const std::vector<int> order = SmithOrder(instance, type);
    for (std::size_t k = 1; k < order.size(); ++k) {
      for (std::size_t i = 0; i < k; ++i) {
        const double ahead = instance.gang[U(order[i])] * instance.at(order[i], type) /
                             static_cast<double>(instance.free_at[U(type)].size());
        const int both = lp.AddColumn(instance.weight[U(order[k])] * ahead, 0.0, kLpInfinity);
        lp.AddEntry(both, 1.0);
        lp.AddEntry(model.column[U(order[i])][U(type)], -1.0);
        lp.AddEntry(model.column[U(order[k])][U(type)], -1.0);
        lp.EndRow(-1.0, kLpInfinity);
      }
    }
  }
  return model;
}

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

class Milp final : public Solver {
 public:
  Milp(Target target, const MipLimits& limits) : target_(target), limits_(limits) {}
  Target target() const override { return target_; }
  Solution Solve(const Instance& instance, bool) override { return SolveMilp(instance, target_, limits_); }

 private:
  Target target_;
  MipLimits limits_;
};

constexpr ParamInfo kMilpHorizonParam = {
    "horizon", "6",
    "jobs planned at once, the earliest; later ones follow, each where it ends soonest; from 1"};
constexpr ParamInfo kParams[] = {
    kTargetParam,
    {"gap", "0.02", "stop when the plan is proven this close to the program's optimum, relative"},
    {"nodes", "200", "of the search tree, at most: repeatable on every machine"},
    {"time_limit_s", "inf", "s a program may take, then its best plan so far stands; not repeatable"},
    kMilpHorizonParam,
    kReportParam,
};

}  // namespace

Solution SolveMilp(const Instance& instance, Target target, const MipLimits& limits, bool* proven) {
  Solution best;
  best.assignment = Greedy(instance, target, best.value);
  best.bound = QuickBound(instance, target);
  if (proven != nullptr) *proven = true;
  if (best.value <= best.bound * (1.0 + limits.gap)) return best;
  LoadModel model = target == Target::kMakespan ? MakespanModel(instance, kNever) : CompletionModel(instance);
  for (const auto& row : model.column) {
    for (int column : row) {
      if (column >= 0) model.lp.integer.push_back(column);
    }
  }
  const MipAnswer answer = SolveMip(model.lp, limits);
  if (proven != nullptr) *proven = answer.proven;
  best.bound = std::max(best.bound, answer.bound);
  if (!answer.found) return best;
  Assignment plan;
  for (const auto& row : model.column) {
    int chosen = -1;
    for (std::size_t type = 0; type < row.size(); ++type) {
      if (row[type] >= 0 && (chosen < 0 || answer.x[U(row[type])] > answer.x[U(row[U(chosen)])]))
        chosen = static_cast<int>(type);
    }
    plan.type.push_back(chosen);
  }
  plan.order = OrderFor(instance, plan.type, target);
  const double value = ListSchedule().Value(instance, plan, target);
  if (value < best.value) best.value = value, best.assignment = std::move(plan);
  return best;
}

SchedulerInfo MilpInfo() {
  return {"milp",
          "plans by an integer program for R||sum wC or R||Cmax with a gap and limits; exponential at worst",
          "Graham, Lawler, Lenstra & Rinnooy Kan 1979 (the problems); HiGHS (branch and cut)",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const Target target = ReadTarget(params);
            MipLimits limits;
            limits.gap = params.Number("gap", 0.0, 1.0);
            limits.nodes = static_cast<int>(params.Integer("nodes", 0, 2000000000));
            limits.time_s = params.Number("time_limit_s", 0.0, kNever);
            return MakePlanned("milp", std::make_unique<Milp>(target, limits), params);
          }};
}

}  // namespace berth
