// Max-min fairness, heterogeneity-aware least attained service (OSDI 2020 §4.1, eq. of gavel/SPEC.md §2).
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objective.hpp"

namespace berth::gavel {

bool MaxMinFairness(const Problem& problem, LevelLp& lp, Allocation& x, double* level) {
  const std::vector<double> proportional = ProportionalThroughput(problem);
  std::vector<double> worth(problem.throughput.size());
  for (int i = 0; i < problem.jobs(); ++i) {
    const auto u = static_cast<std::size_t>(i);
    const double scale = problem.gang[u] / (problem.weight[u] * proportional[u]);
    for (int j = 0; j < problem.types(); ++j) {
      worth[problem.at(i, j)] = problem.throughput[problem.at(i, j)] * scale;
    }
  }
  LevelAnswer answer;
  if (!lp.Maximize(problem, worth, answer)) return false;
  x = std::move(answer.x);
  if (level != nullptr) *level = answer.level;
  return true;
}

namespace {

class MaxMin final : public Objective {
 public:
  explicit MaxMin(const ObjectiveOptions& options)
      : aware_(options.aware), lp_(options.method, options.lp_time_limit_s) {}
  bool Allocate(const Problem& problem, Allocation& x) override {
    return MaxMinFairness(aware_ ? problem : WithUnitThroughput(problem), lp_, x);
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  bool aware_;
  LevelLp lp_;
};

}  // namespace

ObjectiveInfo MaxMinObjective() {
  return {.summary = "the least attained service, per weight, is as large as it can be",
          .source = "OSDI 2020 §4.1",
          .aware_name = "max_min_fairness_perf",
          .agnostic_name = "max_min_fairness",
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<MaxMin>(options);
          },
          .packed_name = "max_min_fairness_packed",
          .make_packed = MakePackedMaxMin};
}

}  // namespace berth::gavel
