#include "baselines/optimisation/rule_plans.hpp"

#include <algorithm>
#include <numeric>

#include "env/base/index.hpp"

namespace berth {
namespace {

// When the type has GPUs for the job's gang; kNever = cannot run there.
double RoomAt(const Instance& instance, const std::vector<std::vector<double>>& free_at, int i, int type) {
  return instance.at(i, type) < kNever ? free_at[U(type)][U(instance.gang[U(i)] - 1)] : kNever;
}

void Start(const Instance& instance, int i, int type, double now, std::vector<std::vector<double>>& free_at,
           Assignment& plan) {
  plan.type[U(i)] = type;
  plan.order.push_back(i);
  Occupy(free_at[U(type)], instance.gang[U(i)], now, instance.at(i, type));
}

// Over the types where it can run.
double MeanSeconds(const Instance& instance, int i) {
  double sum = 0.0;
  int types = 0;
  for (int type = 0; type < instance.types(); ++type) {
    if (instance.at(i, type) < kNever) sum += instance.at(i, type), ++types;
  }
  return sum / types;
}

}  // namespace

Assignment Dispatch(const Instance& instance, std::span<const int> order, bool overtake) {
  Assignment plan{{}, std::vector<int>(instance.job.size(), -1)};
  auto free_at = instance.free_at;
  std::vector<int> left(order.begin(), order.end());
  double now = 0.0;
  while (!left.empty()) {
    // The first that fits now, or the first at all, or who fits soonest.
    double soonest = kNever;
    std::size_t next = 0;
    for (std::size_t k = 0; k < left.size() && soonest > now; ++k) {
      double room = kNever;
      for (int type = 0; type < instance.types(); ++type) {
        room = std::min(room, std::max(now, RoomAt(instance, free_at, left[k], type)));
      }
      if (room < soonest) soonest = room, next = k;
      if (!overtake) break;
    }
    now = soonest;
    const int i = left[next];
    int best = -1;
    for (int type = 0; type < instance.types(); ++type) {
      if (RoomAt(instance, free_at, i, type) > now) continue;
      if (best < 0 || instance.at(i, type) < instance.at(i, best)) best = type;
    }
    Start(instance, i, best, now, free_at, plan);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return plan;
}

Assignment DispatchPairs(const Instance& instance) {
  Assignment plan{{}, std::vector<int>(instance.job.size(), -1)};
  auto free_at = instance.free_at;
  std::vector<int> left(instance.job.size());
  std::iota(left.begin(), left.end(), 0);
  double now = 0.0;
  while (!left.empty()) {
    double soonest = kNever, least = kNever;
    std::size_t next = 0;
    int best = -1;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const int i = left[k];
      for (int type = 0; type < instance.types(); ++type) {
        const double start = std::max(now, RoomAt(instance, free_at, i, type));
        const double key = instance.gang[U(i)] * instance.at(i, type) / instance.weight[U(i)];
        if (start > soonest || (start == soonest && key >= least)) continue;
        soonest = start, least = key, next = k, best = type;
      }
    }
    now = soonest;
    const int i = left[next];
    Start(instance, i, best, now, free_at, plan);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return plan;
}

std::vector<ValuedPlan> RulePlans(const Instance& instance, Target target) {
  std::vector<ValuedPlan> plans;
  ListSchedule schedule;
  const auto add = [&](Assignment plan) {
    const double value = schedule.Value(instance, plan, target);
    plans.push_back({value, std::move(plan)});
  };
  std::vector<int> order(instance.job.size());
  const auto add_order = [&](auto key) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    add(EarliestFinish(instance, order));
    add(Dispatch(instance, order, /*overtake=*/false));
    add(Dispatch(instance, order, /*overtake=*/true));
  };
  const auto seconds = [&](int i) { return Fastest(instance, i); };
  const auto area = [&](int i) { return seconds(i) * instance.gang[U(i)] / instance.weight[U(i)]; };
  add_order([](int) { return 0; });
  add_order(seconds);
  add_order(area);
  add_order([&](int i) { return -seconds(i); });
  add_order([&](int i) { return -MeanSeconds(instance, i); });
  add(DispatchPairs(instance));
  std::stable_sort(plans.begin(), plans.end(),
                   [](const ValuedPlan& a, const ValuedPlan& b) { return a.value < b.value; });
  return plans;
}

}  // namespace berth
