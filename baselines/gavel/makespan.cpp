// Shortest makespan (OSDI 2020 §4.2), of jobs alone and of jobs that may share a GPU (§4.4).
#include <algorithm>

#include "baselines/gavel/makespan_probe.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "baselines/gavel/share_system.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

// By parts of the work in the time that the longest job takes at its fastest, so that levels are near 1.
struct Worth {
  double unit = 0.0;          // s
  std::vector<double> parts;  // [m, G]
};

Worth WorthOf(const Problem& problem) {
  Worth worth{.parts = problem.throughput};
  for (int i = 0; i < problem.jobs(); ++i) {
    const double remaining = problem.remaining[U(i)];
    BERTH_CHECK(remaining > 0.0, "job ", problem.key[U(i)], " has nothing left to do");
    double fastest = 0.0;
    for (int j = 0; j < problem.types(); ++j) {
      fastest = std::max(fastest, problem.throughput[problem.at(i, j)]);
      worth.parts[problem.at(i, j)] /= remaining;
    }
    worth.unit = std::max(worth.unit, remaining / fastest);
  }
  for (double& part : worth.parts) part *= worth.unit;
  return worth;
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

// 0 where a probe comes too near the shortest makespan for prices to tell.
double LastFeasibleByPrices(const Problem& problem) {
  MakespanProbe prices(problem);
  bool decided = true;
  const double last = LastFeasible(Bisect([&](double seconds) {
    const Verdict verdict = decided ? prices.Try(seconds) : Verdict::kFeasible;
    decided = decided && verdict != Verdict::kUndecided;
    return verdict != Verdict::kInfeasible;
  }));
  return decided ? last : 0.0;
}

MakespanAnswer TakeMakespan(const Worth& worth, LevelAnswer& level) {
  return {worth.unit / level.level, worth.unit / level.bound, std::move(level.x)};
}

}  // namespace

bool ExactMakespan(const Problem& problem, LevelLp& lp, MakespanAnswer& answer) {
  const Worth worth = WorthOf(problem);
  LevelAnswer level;
  if (!lp.Level(problem, worth.parts, level)) return false;
  answer = TakeMakespan(worth, level);
  return true;
}

std::vector<Probe> BisectionSequence(double exact_seconds) {
  BERTH_CHECK(exact_seconds < 1e300, "no makespan");
  return Bisect([exact_seconds](double seconds) { return seconds >= exact_seconds; });
}

bool BisectedMakespan(const Problem& problem, LevelLp& lp, MakespanAnswer& answer) {
  MakespanAnswer exact;
  answer.seconds = lp.warm() ? 0.0 : LastFeasibleByPrices(problem);
  if (answer.seconds == 0.0) {
    if (!ExactMakespan(problem, lp, exact)) return false;
    answer.seconds = LastFeasible(BisectionSequence(exact.seconds));
  }
  std::vector<double> least = problem.remaining;
  for (double& steps : least) steps /= answer.seconds;
  const bool cheap = lp.method() == LpMethod::kSimplex || problem.types() <= ShareSystem::kMostTypes;
  if (!lp.warm() && cheap && lp.Reach(problem, problem.throughput, least, answer.x)) return true;
  // What reaches the shortest makespan is feasible at any longer time too.
  if (exact.x.empty() && !ExactMakespan(problem, lp, exact)) return false;
  answer.x = std::move(exact.x);
  return true;
}

bool PackedMakespan(const PackedProblem& problem, PackedLp& lp, PackedMakespanAnswer& answer) {
  std::vector<double> scale;
  for (double remaining : problem.base.remaining) {
    BERTH_CHECK(remaining > 0.0, "a job has nothing left to do");
    scale.push_back(1.0 / remaining);
  }
  KindsAnswer level;
  if (!lp.Maximize(problem, scale, level)) return false;
  answer.seconds = 1.0 / level.level;
  answer.x = std::move(level.x);
  return true;
}

namespace {

class Makespan final : public Objective {
 public:
  explicit Makespan(const ObjectiveOptions& options)
      : options_(options), lp_(options.method, options.lp_time_limit_s, options.warm) {}
  bool reads_future() const override { return true; }
  void Reset(std::uint64_t) override { lp_.Reset(); }
  bool Allocate(const Problem& problem, Allocation& x) override {
    const Problem& seen =
        options_.aware ? problem : (levelled_ = WithThroughputOf(problem, BasisType(problem)));
    MakespanAnswer answer;
    const bool solved =
        options_.compat ? BisectedMakespan(seen, lp_, answer) : ExactMakespan(seen, lp_, answer);
    if (solved) x = std::move(answer.x), seconds_ = answer.seconds;
    return solved;
  }
  void Promised(const Problem& problem, const Allocation&, Promise& promise) const override {
    promise.worth = options_.aware ? problem.throughput : levelled_.throughput;
    for (double steps : problem.remaining) promise.least.push_back(steps / seconds_);
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  ObjectiveOptions options_;
  LevelLp lp_;
  Problem levelled_;
  double seconds_ = 0.0;
};

class PackedMakespanObjective final : public PackedObjective {
 public:
  explicit PackedMakespanObjective(const ObjectiveOptions& options)
      : lp_(options.method, options.lp_time_limit_s) {}
  bool reads_future() const override { return true; }
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    PackedMakespanAnswer answer;
    if (!PackedMakespan(problem, lp_, answer)) return false;
    x = std::move(answer.x);
    return true;
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  PackedLp lp_;
};

}  // namespace

ObjectiveInfo MakespanObjective() {
  return {.summary = "the last of the jobs present ends as early as it can",
          .source = "OSDI 2020 §4.2",
          .aware_name = "min_total_duration_perf",
          .agnostic_name = "min_total_duration",
          .ties = true,
          .warm = true,
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<Makespan>(options);
          },
          .packed_name = "min_total_duration_packed",
          .make_packed = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<PackedObjective> {
            return std::make_unique<PackedMakespanObjective>(options);
          }};
}

}  // namespace berth::gavel
