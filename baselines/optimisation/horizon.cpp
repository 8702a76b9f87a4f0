#include "baselines/optimisation/horizon.hpp"

#include <algorithm>
#include <numeric>

#include "baselines/optimisation/rule_plans.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

std::vector<int> PlanningOrder(const Instance& instance, Target target) {
  std::vector<int> order(instance.job.size());
  std::iota(order.begin(), order.end(), 0);
  if (target == Target::kMakespan) return order;
  const auto key = [&](int i) { return Fastest(instance, i) * instance.gang[U(i)] / instance.weight[U(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  return order;
}

Instance Part(const Instance& whole, std::span<const int> jobs) {
  Instance part{{}, {}, {}, {}, whole.free_at};
  for (int i : jobs) {
    part.job.push_back(whole.job[U(i)]);
    part.gang.push_back(whole.gang[U(i)]);
    part.weight.push_back(whole.weight[U(i)]);
    for (int type = 0; type < whole.types(); ++type) part.seconds.push_back(whole.at(i, type));
  }
  return part;
}

}  // namespace

Solution PlanFirst(const Instance& instance, Target target, int n,
                   const std::function<Solution(const Instance&)>& solve) {
  if (n >= instance.jobs() && n > 1) return solve(instance);
  const std::vector<int> order = PlanningOrder(instance, target);
  std::vector<int> first(order.begin(), order.begin() + n);
  std::sort(first.begin(), first.end());  // in arrival order, as instances are
  Solution solution;
  solution.assignment.order = first;
  Instance rest = instance;  // the plan's types are the only ones that its jobs may take
  if (n > 1) {
    solution = solve(Part(instance, first));
    for (int& i : solution.assignment.order) i = first[U(i)];
    for (std::size_t k = 0; k < first.size(); ++k) {
      for (int type = 0; type < instance.types(); ++type) {
        if (type != solution.assignment.type[k])
          rest.seconds[U(first[k]) * instance.free_at.size() + U(type)] = kNever;
      }
    }
  }
  std::vector<int> all = solution.assignment.order;
  all.insert(all.end(), order.begin() + n, order.end());
  solution.assignment = EarliestFinish(rest, all);
  if (target == Target::kMakespan) return solution;
  ValuedPlan rule = std::move(RulePlans(instance, target).front());
  if (rule.value < ListSchedule().Value(instance, solution.assignment, target))
    solution.assignment = std::move(rule.plan);
  return solution;
}

}  // namespace berth
