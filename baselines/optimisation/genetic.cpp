// A genetic algorithm over the order of jobs and the type of each: order crossover (Davis 1985) for the
// former, uniform crossover for the latter, a swap or a change of type as mutation, tournaments of two, and
// the best survives. The first population holds the greedy plan, so the answer is never worse; anytime: more
// generations only help. Draws come from the scenario's seed.
#include <algorithm>
#include <numeric>

#include "baselines/optimisation/planned.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kGeneticParams[] = {
    kTargetParam,
    {"population", "16", "plans at a time, from 2"},
    {"generations", "40", "how often the population is replaced"},
    kHorizonParam,
    kReportParam,
};

struct Individual {
  Assignment plan;
  double value = 0.0;
};

class Genetic final : public SeededSolver {
 public:
  Genetic(Target target, int population, int generations)
      : SeededSolver(target), population_(population), generations_(generations) {}

  Solution Solve(const Instance& instance, bool bounded) override {
    std::vector<Individual> now(U(population_)), next(U(population_));
    now[0].plan = Greedy(instance, target_, now[0].value);
    for (std::size_t i = 1; i < now.size(); ++i) {  // ever further away from it, up to random ones
      now[i].plan = now[0].plan;
      for (std::size_t k = 0; k < i * U(instance.jobs()) / 8 + 1; ++k) Mutate(instance, now[i].plan);
      now[i].value = schedule_.Value(instance, now[i].plan, target_);
    }
    for (int generation = 0; generation < generations_; ++generation) {
      next[0] = *Best(now);
      for (std::size_t i = 1; i < next.size(); ++i) {
        const Individual& mother = Tournament(now);
        Cross(instance, mother.plan, Tournament(now).plan, next[i].plan);
        if (Draw(2) == 0) Mutate(instance, next[i].plan);
        next[i].value = schedule_.Value(instance, next[i].plan, target_);
      }
      now.swap(next);
    }
    const auto best = Best(now);
    return {best->plan, best->value, bounded ? QuickBound(instance, target_) : 0.0};
  }

 private:
  static std::vector<Individual>::const_iterator Best(const std::vector<Individual>& all) {
    return std::min_element(all.begin(), all.end(),
                            [](const Individual& a, const Individual& b) { return a.value < b.value; });
  }

  const Individual& Tournament(const std::vector<Individual>& all) {
    const Individual& a = all[U(Draw(population_))];
    const Individual& b = all[U(Draw(population_))];
    return b.value < a.value ? b : a;
  }

  void Mutate(const Instance& instance, Assignment& plan) {
    const int a = Draw(instance.jobs());
    if (Draw(2) == 0) {
      std::swap(plan.order[U(a)], plan.order[U(Draw(instance.jobs()))]);
    } else if (const int type = Draw(instance.types()); instance.at(a, type) < kNever) {
      plan.type[U(a)] = type;
    }
  }

  // A stretch of the mother's order stays in its place, the others fill up in the father's order.
  void Cross(const Instance& instance, const Assignment& mother, const Assignment& father,
             Assignment& child) {
    const int n = instance.jobs();
    int begin = Draw(n), end = Draw(n) + 1;
    if (begin >= end) std::swap(begin, end);
    taken_.assign(U(n), 0);
    child.order = mother.order;
    for (int k = begin; k < end; ++k) taken_[U(mother.order[U(k)])] = 1;
    int place = 0;
    for (int i : father.order) {
      if (taken_[U(i)] != 0) continue;
      if (place == begin) place = end;
      child.order[U(place++)] = i;
    }
    child.type = mother.type;
    for (int i = 0; i < n; ++i) {
      if (Draw(2) == 0) child.type[U(i)] = father.type[U(i)];
    }
  }

  int population_, generations_;
  std::vector<char> taken_;
};

}  // namespace

SchedulerInfo GeneticInfo() {
  return {"genetic",
          "plans by a genetic algorithm over orders and types; O(population generations n GPUs) an arrival",
          "Holland 1975; order crossover: Davis 1985",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kGeneticParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const Target target = ReadTarget(params);
            const auto population = static_cast<int>(params.Integer("population", 2, 1000000));
            const auto generations = static_cast<int>(params.Integer("generations", 0, 1000000000));
            return MakePlanned("genetic", std::make_unique<Genetic>(target, population, generations), params);
          }};
}

}  // namespace berth
