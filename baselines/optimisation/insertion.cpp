#include "baselines/optimisation/insertion.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr double kLess = 1e-9;  // relative; gains of rounding alone would go on for long

}  // namespace

double Insert(const Instance& instance, Target target, int i, int places, Assignment& plan) {
  ListSchedule schedule;
  Assignment tried, best;
  double least = kNever;
  for (int type = 0; type < instance.types(); ++type) {
    if (instance.at(i, type) == kNever) continue;
    int passed = 0;  // jobs of the type
    for (std::size_t k = 0; k <= plan.order.size(); ++k) {
      const bool last = k == plan.order.size();
      if (!last && (plan.type[U(plan.order[k])] != type || ++passed > places)) continue;
      tried = plan;
      tried.order.insert(tried.order.begin() + static_cast<std::ptrdiff_t>(k), i);
      tried.type[U(i)] = type;
      const double value = schedule.Value(instance, tried, target);
      if (value < least) least = value, std::swap(best, tried);
    }
  }
  plan = std::move(best);
  return least;
}

double Improve(const Instance& instance, Target target, Assignment& plan) {
  double value = ListSchedule().Value(instance, plan, target);
  for (bool better = true; better;) {
    better = false;
    for (int i = 0; i < instance.jobs(); ++i) {
      Assignment other = plan;
      std::erase(other.order, i);
      const double its = Insert(instance, target, i, instance.jobs(), other);
      if (its >= value * (1.0 - kLess)) continue;
      value = its, plan = std::move(other);
      better = true;
    }
  }
  return value;
}

}  // namespace berth
