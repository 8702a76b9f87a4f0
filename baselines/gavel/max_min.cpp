// Max-min fairness, heterogeneity-aware least attained service (OSDI 2020 §4.1), of jobs alone and of jobs
// that may share a GPU (§4.4).
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objectives.hpp"

namespace berth::gavel {

bool MaxMinFairness(const Problem& problem, LevelLp& lp, Allocation& x, double* level) {
  LevelAnswer answer;
  if (!lp.Maximize(problem, NormalizedWorth(problem), answer)) return false;
  x = std::move(answer.x);
  if (level != nullptr) *level = answer.level;
  return true;
}

bool PackedMaxMin(const PackedProblem& problem, PackedLp& lp, PackedAllocation& x, double* level) {
  KindsAnswer answer;
  if (!lp.Maximize(problem, WorthScale(problem.base), answer)) return false;
  x = std::move(answer.x);
  if (level != nullptr) *level = answer.level;
  return true;
}

namespace {

class MaxMin final : public Objective {
 public:
  explicit MaxMin(const ObjectiveOptions& options)
      : aware_(options.aware), lp_(options.method, options.lp_time_limit_s, options.warm) {}
  void Reset(std::uint64_t) override { lp_.Reset(); }
  bool Allocate(const Problem& problem, Allocation& x) override {
    return MaxMinFairness(aware_ ? problem : WithUnitThroughput(problem), lp_, x, &level_);
  }
  void Promised(const Problem& problem, const Allocation&, Promise& promise) const override {
    promise.worth = NormalizedWorth(aware_ ? problem : WithUnitThroughput(problem));
    promise.least.assign(problem.key.size(), level_);
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  bool aware_;
  LevelLp lp_;
  double level_ = 0.0;
};

class PackedMaxMinObjective final : public PackedObjective {
 public:
  explicit PackedMaxMinObjective(const ObjectiveOptions& options)
      : lp_(options.method, options.lp_time_limit_s) {}
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    return PackedMaxMin(problem, lp_, x);
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  PackedLp lp_;
};

}  // namespace

ObjectiveInfo MaxMinObjective() {
  return {.summary = "the least attained service, per weight, is as large as it can be",
          .source = "OSDI 2020 §4.1",
          .aware_name = "max_min_fairness_perf",
          .agnostic_name = "max_min_fairness",
          .ties = true,
          .warm = true,
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<MaxMin>(options);
          },
          .packed_name = "max_min_fairness_packed",
          .make_packed = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<PackedObjective> {
            return std::make_unique<PackedMaxMinObjective>(options);
          }};
}

}  // namespace berth::gavel
