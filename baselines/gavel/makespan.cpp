// Shortest makespan (OSDI 2020 §4.2), of jobs alone and of jobs that may share a GPU (§4.4).
#include <algorithm>

#include "baselines/gavel/makespan_probe.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/check.hpp"

namespace berth::gavel {
namespace {

std::vector<double> Worth(const Problem& problem) {
  std::vector<double> worth(problem.throughput.size());
  for (int i = 0; i < problem.jobs(); ++i) {
    const double remaining = problem.remaining[static_cast<std::size_t>(i)];
    BERTH_CHECK(remaining > 0.0, "job ", problem.key[static_cast<std::size_t>(i)], " has nothing left to do");
    for (int j = 0; j < problem.types(); ++j) {
      worth[problem.at(i, j)] = problem.throughput[problem.at(i, j)] / remaining;
    }
  }
  return worth;
}

// A makespan whose bounds are close `enough`, and what reaches it. The longest run alone on an equal part of
// everything is a first bound; the rest is least_ratio.hpp's, or a vertex where that has no proof.
bool FindMakespan(const Problem& problem, LevelLp& lp, const EnoughRatio& enough, MakespanAnswer& answer) {
  if (lp.method() != LpMethod::kSimplex) {
    const std::vector<double> one(problem.key.size(), 1.0), zero(problem.key.size(), 0.0);
    MakespanAnswer found{.x = IsolatedAllocation(problem)};
    const std::vector<double> speed = EffectiveThroughput(problem, found.x);
    for (std::size_t i = 0; i < speed.size(); ++i) {
      BERTH_CHECK(problem.remaining[i] > 0.0, "job ", problem.key[i], " has nothing left to do");
      found.seconds = std::max(found.seconds, problem.remaining[i] / speed[i]);
    }
    RatioBounds bounds{.reached = found.seconds};
    const LpStatus status = lp.LeastRatio(problem, one, zero, enough, found.x, bounds);
    if (status == LpStatus::kTimeLimit) return false;
    if (status == LpStatus::kOptimal) {
      answer = {bounds.reached, std::move(found.x)};
      return true;
    }
  }
  LevelAnswer level;
  if (!lp.Maximize(problem, Worth(problem), LpMethod::kSimplex, level)) return false;
  answer.seconds = 1.0 / level.level;
  answer.x = std::move(level.x);
  return true;
}

// The last probe of the reference's bisection that is feasible: successful ones only fall.
double LastFeasible(const std::vector<Probe>& probes) {
  double last = 0.0;
  for (const Probe& probe : probes) {
    if (probe.feasible) last = probe.seconds;
  }
  return last;
}

// feasible(T) for the probes of the reference's bisection, in its order.
template <class Feasible>
std::vector<Probe> Bisect(const Feasible& feasible_within) {
  std::vector<Probe> probes;
  double low = 100.0, high = 1e6;
  bool found = false;
  while (!found) {
    const double limit = high;
    while (1.05 * low < high) {
      const double middle = (low + high) / 2.0;
      const bool feasible = feasible_within(middle);
      probes.push_back({middle, feasible});
      (feasible ? high : low) = middle;
      found = found || feasible;
    }
    if (!found) low = limit, high = 10.0 * limit;
  }
  return probes;
}

// By prices, probe by probe; by bounds on the shortest makespan where a probe comes too near it. 0: neither
// had an answer.
double LastFeasibleOf(const Problem& problem, LevelLp& lp) {
  MakespanProbe prices(problem);
  bool decided = true;
  const double last = LastFeasible(Bisect([&](double seconds) {
    const Verdict verdict = decided ? prices.Try(seconds) : Verdict::kFeasible;
    decided = decided && verdict != Verdict::kUndecided;
    return verdict != Verdict::kInfeasible;
  }));
  if (decided) return last;
  const auto apart = [](const RatioBounds& bounds) {
    return WithinBillionth(bounds) ||
           LastFeasible(BisectionSequence(bounds.least)) == LastFeasible(BisectionSequence(bounds.reached));
  };
  MakespanAnswer exact;
  return FindMakespan(problem, lp, apart, exact) ? LastFeasible(BisectionSequence(exact.seconds)) : 0.0;
}

}  // namespace

// Proven to 1e-9, as a vertex is.
bool ExactMakespan(const Problem& problem, LevelLp& lp, MakespanAnswer& answer) {
  return FindMakespan(problem, lp, WithinBillionth, answer);
}

std::vector<Probe> BisectionSequence(double exact_seconds) {
  BERTH_CHECK(exact_seconds < 1e300, "no makespan");
  return Bisect([exact_seconds](double seconds) { return seconds >= exact_seconds; });
}

bool BisectedMakespan(const Problem& problem, LevelLp& lp, MakespanAnswer& answer) {
  const double seconds = LastFeasibleOf(problem, lp);
  if (seconds == 0.0) return false;
  std::vector<double> least = problem.remaining;
  for (double& steps : least) steps /= seconds;
  if (!lp.Reach(problem, problem.throughput, least, answer.x)) {
    // What reaches the shortest makespan is feasible at any longer time too.
    MakespanAnswer exact;
    if (!ExactMakespan(problem, lp, exact)) return false;
    answer.x = std::move(exact.x);
  }
  answer.seconds = seconds;
  return true;
}

bool PackedExactMakespan(const PackedProblem& problem, PackedLp& lp, PackedMakespanAnswer& answer) {
  std::vector<double> scale;
  for (double remaining : problem.base.remaining) {
    BERTH_CHECK(remaining > 0.0, "a job has nothing left to do");
    scale.push_back(1.0 / remaining);
  }
  PackedLevel level;
  if (!lp.Maximize(problem, UsefulCombos(problem), scale, LpMethod::kSimplex, level)) return false;
  answer.seconds = 1.0 / level.level;
  answer.x = std::move(level.x);
  return true;
}

bool PackedBisectedMakespan(const PackedProblem& problem, PackedLp& lp, PackedMakespanAnswer& answer) {
  PackedMakespanAnswer exact;
  if (!PackedExactMakespan(problem, lp, exact)) return false;
  answer.seconds = LastFeasible(BisectionSequence(exact.seconds));
  std::vector<double> least;
  for (double remaining : problem.base.remaining) least.push_back(remaining / answer.seconds);
  // The exact optimum is feasible at any longer time too: it stands in should the feasibility problem fail.
  if (!lp.Reach(problem, UsefulCombos(problem), least, answer.x)) answer.x = std::move(exact.x);
  return true;
}

namespace {

class Makespan final : public Objective {
 public:
  explicit Makespan(const ObjectiveOptions& options)
      : options_(options), lp_(options.method, options.lp_time_limit_s) {}
  bool reads_future() const override { return true; }
  bool Allocate(const Problem& problem, Allocation& x) override {
    const Problem& seen =
        options_.aware ? problem : (levelled_ = WithThroughputOf(problem, BasisType(problem)));
    MakespanAnswer answer;
    const bool solved =
        options_.compat ? BisectedMakespan(seen, lp_, answer) : ExactMakespan(seen, lp_, answer);
    if (solved) x = std::move(answer.x);
    return solved;
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  ObjectiveOptions options_;
  LevelLp lp_;
  Problem levelled_;
};

class Packed final : public PackedObjective {
 public:
  explicit Packed(const ObjectiveOptions& options)
      : compat_(options.compat), lp_(options.method, options.lp_time_limit_s) {}
  bool reads_future() const override { return true; }
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    PackedMakespanAnswer answer;
    const bool solved =
        compat_ ? PackedBisectedMakespan(problem, lp_, answer) : PackedExactMakespan(problem, lp_, answer);
    if (solved) x = std::move(answer.x);
    return solved;
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  bool compat_;
  PackedLp lp_;
};

}  // namespace

ObjectiveInfo MakespanObjective() {
  return {.summary = "the last of the jobs present ends as early as it can",
          .source = "OSDI 2020 §4.2",
          .aware_name = "min_total_duration_perf",
          .agnostic_name = "min_total_duration",
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<Makespan>(options);
          },
          .packed_name = "min_total_duration_packed",
          .make_packed = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<PackedObjective> {
            return std::make_unique<Packed>(options);
          }};
}

}  // namespace berth::gavel
