// Max-min fairness, heterogeneity-aware least attained service (OSDI 2020 §4.1), of jobs alone and of jobs
// that may share a GPU (§4.4).
#include "baselines/gavel/job_classes.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {

bool MaxMinFairness(const Problem& problem, LevelLp& lp, Allocation& x, double* level) {
  LevelAnswer answer;
  if (!lp.Maximize(problem, NormalizedWorth(problem), answer)) return false;
  x = std::move(answer.x);
  if (level != nullptr) *level = answer.level;
  return true;
}

namespace {

// Packed programs over classes: jobs of one kind, gang and weight stand as one, and so do all pairs of two
// classes. With the published rates there are 26 kinds of single-GPU jobs, so the program does not grow with
// the jobs.
struct PackedClasses {
  JobClasses jobs;
  PackedProblem one;  // a job of each class, with members
};

// REQUIRES: problem.kind [m].
PackedClasses ClassesOf(const PackedProblem& problem) {
  const Problem& base = problem.base;
  PackedClasses classes;
  const std::vector<double> kind(problem.kind.begin(), problem.kind.end());
  Classify(base, base.throughput, {kind, base.weight}, classes.jobs);
  classes.one.base = OneOfEach(base, classes.jobs);
  classes.one.members = classes.jobs.members;
  classes.one.beside = problem.beside;
  classes.one.kinds = problem.kinds;
  for (int job : classes.jobs.first) classes.one.kind.push_back(problem.kind[U(job)]);
  return classes;
}

// Of the jobs, from that of their classes: each member and each pair of members alike.
PackedAllocation Spread(const PackedClasses& classes, const PackedAllocation& x) {
  const int m = static_cast<int>(classes.jobs.of_job.size()), n = classes.jobs.size();
  const std::size_t types = classes.one.base.workers.size();
  const auto copy = [types](const Allocation& from, std::size_t row, Allocation& to) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row * types);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(types));
  };
  PackedAllocation all;
  all.alone.reserve(U(m) * types);
  for (int its : classes.jobs.of_job) copy(x.alone, U(its), all.alone);
  std::vector<int> row_of(U(n) * U(n), -1);  // of a pair of classes in x
  for (std::size_t p = 0; p < x.pairs.size(); ++p) {
    const auto [a, b] = x.pairs[p];
    row_of[U(a * n + b)] = row_of[U(b * n + a)] = static_cast<int>(p);
  }
  for (int i = 0; i < m; ++i) {
    for (int k = i + 1; k < m; ++k) {
      const int row = row_of[U(classes.jobs.of_job[U(i)] * n + classes.jobs.of_job[U(k)])];
      if (row < 0) continue;
      all.pairs.push_back({i, k});
      copy(x.together, U(row), all.together);
    }
  }
  return all;
}

// Beyond, kinds of jobs take the place of classes: programs over pairs of classes and answers over all pairs
// of jobs would grow with their squares.
constexpr int kMostClasses = 64, kMostJobs = 1024;

}  // namespace

bool PackedMaxMin(const PackedProblem& problem, PackedLp& lp, PackedAllocation& x, double* level) {
  const std::vector<double> scale = WorthScale(problem.base);
  PackedLevel answer;
  // A vertex is one of the program job by job.
  if (!problem.kind.empty() && problem.members.empty() && lp.method() != LpMethod::kSimplex) {
    const PackedClasses classes = ClassesOf(problem);
    if (classes.jobs.size() > kMostClasses || problem.base.jobs() > kMostJobs) {
      if (!lp.MaximizeByKinds(problem, scale, answer)) return false;
      x = std::move(answer.x);
      if (level != nullptr) *level = answer.level;
      return true;
    }
    PackedAllocation of_classes;
    if (!PackedMaxMin(classes.one, lp, of_classes, level)) return false;
    x = Spread(classes, of_classes);
    return true;
  }
  if (!lp.Maximize(problem, UsefulCombos(problem), scale, lp.method(), answer)) return false;
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

class Packed final : public PackedObjective {
 public:
  explicit Packed(const ObjectiveOptions& options) : lp_(options.method, options.lp_time_limit_s) {}
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
            return std::make_unique<Packed>(options);
          }};
}

}  // namespace berth::gavel
