// min_total_duration_packed (OSDI 2020 §4.2 with §4.4; gavel/SPEC.md §2): the sequence of makespan.cpp over
// combos.
#include "baselines/gavel/packed_objective.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/check.hpp"

namespace berth::gavel {
namespace {

class Policy final : public PackedObjective {
 public:
  explicit Policy(const ObjectiveOptions& options)
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
  answer.seconds = 0.0;
  for (const Probe& probe : BisectionSequence(exact.seconds)) {
    if (probe.feasible) answer.seconds = probe.seconds;  // probes that succeed only fall
  }
  std::vector<double> least;
  for (double remaining : problem.base.remaining) least.push_back(remaining / answer.seconds);
  // The exact optimum is feasible at any longer time too: it stands in should the feasibility problem fail.
  if (!lp.Reach(problem, UsefulCombos(problem), least, answer.x)) answer.x = std::move(exact.x);
  return true;
}

std::unique_ptr<PackedObjective> MakePackedMakespan(const ObjectiveOptions& options, Params&) {
  return std::make_unique<Policy>(options);
}

}  // namespace berth::gavel
