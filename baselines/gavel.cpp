// The heterogeneity-aware scheduler of Gavel: an objective's allocation, run by the round mechanism.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/round_mechanism.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

enum class Objective { kMaxMin, kMakespan, kFinishTimeFairness, kIsolated, kFifo };

constexpr ParamInfo kParams[] = {
    {"objective", "max_min", "max_min | makespan | finish_time_fairness | isolated | fifo"},
    {"aware", "true", "whether the objective sees how fast each job runs on each type"},
    {"solver", "ipm", "ipm: inside the optimal face, as the reference's solver | simplex: a vertex of it"},
    {"compat", "true",
     "makespan: stop within 5% of the optimum, as the reference's bisection; false: the optimum"},
    {"reset_s", "1920", "s, clocks with rounds: least time between two allocations"},
};

struct Options {
  Objective objective;
  bool aware;
  LpMethod method;
  bool compat;
  double reset_s;
};

// The objective as a source of allocations. What it does when no LP answer passes the optimality check: the
// previous allocation of each job (max-min, makespan; the isolated share for a job that had none), or the
// isolated split (finish-time fairness, as the reference). Counted, and said once on stderr.
class PolicyAllocations final : public gavel::AllocationSource {
 public:
  explicit PolicyAllocations(const Options& options) : options_(options), lp_(options.method) {}

  bool reads_future() const {
    return options_.objective == Objective::kMakespan || options_.objective == Objective::kFinishTimeFairness;
  }

  void Reset(const ClusterView& view) {
    fairness_.Reset();
    previous_.assign(Size(view.num_jobs()) * Size(view.num_types()), 0.0);
    had_one_.assign(Size(view.num_jobs()), 0);
    by_name_.resize(Size(view.num_types()));
    std::iota(by_name_.begin(), by_name_.end(), 0);
    std::sort(by_name_.begin(), by_name_.end(),
              [&view](int a, int b) { return view.types()[Size(a)].name < view.types()[Size(b)].name; });
    basis_ = 0;  // the type whose rates stand for all to the agnostic forms: v100, as in the reference, or
                 // the first
    for (int type = 0; type < view.num_types(); ++type) {
      if (view.types()[Size(type)].name == "v100") basis_ = type;
    }
  }

  void Allocate(const ClusterView& view, std::span<const int> jobs, gavel::Allocation& x) override {
    Describe(view, jobs);
    if (!Solve(x)) FallBack(jobs, x);
    const std::size_t types = Size(view.num_types());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      had_one_[Size(jobs[i])] = 1;
      std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(i * types), types,
                  previous_.begin() + static_cast<std::ptrdiff_t>(Size(jobs[i]) * types));
    }
  }

 private:
  static std::size_t Size(int i) { return static_cast<std::size_t>(i); }

  void Describe(const ClusterView& view, std::span<const int> jobs) {
    problem_.Clear();
    for (const GpuType& type : view.types()) problem_.workers.push_back(type.count);
    for (int job : jobs) {
      problem_.key.push_back(job);
      problem_.gang.push_back(view.Gang(job));
      problem_.weight.push_back(view.Weight(job));
      const auto rates = view.Rates(job);
      problem_.throughput.insert(problem_.throughput.end(), rates.begin(), rates.end());
      if (!reads_future()) continue;
      // Under clock event a job may stand one rounding error short of its end: leave it a billionth of its
      // work.
      problem_.remaining.push_back(std::max(view.RemainingSteps(job), 1e-9 * view.TotalSteps(job)));
      problem_.since.push_back(view.now() - view.Arrival(job));
    }
  }

  bool Solve(gavel::Allocation& x) {
    switch (options_.objective) {
      case Objective::kIsolated:
        x = gavel::IsolatedAllocation(problem_);
        return true;
      case Objective::kFifo:
        x = gavel::FifoAllocation(problem_, by_name_);
        return true;
      case Objective::kMaxMin:
        return gavel::MaxMinFairness(options_.aware ? problem_ : gavel::WithUnitThroughput(problem_), lp_, x);
      case Objective::kFinishTimeFairness:
        return fairness_.Solve(options_.aware ? problem_ : gavel::WithThroughputOf(problem_, basis_), lp_, x);
      case Objective::kMakespan: {
        const gavel::Problem& seen =
            options_.aware ? problem_ : (levelled_ = gavel::WithThroughputOf(problem_, basis_));
        gavel::MakespanAnswer answer;
        const bool solved = options_.compat ? gavel::BisectedMakespan(seen, lp_, answer)
                                            : gavel::ExactMakespan(seen, lp_, answer);
        if (solved) x = std::move(answer.x);
        return solved;
      }
    }
    return false;
  }

  void FallBack(std::span<const int> jobs, gavel::Allocation& x) {
    if (++fallbacks_ == 1) {
      std::fprintf(stderr, "gavel: no LP answer passed the optimality check; %s used (said once)\n",
                   options_.objective == Objective::kFinishTimeFairness ? "the isolated split is"
                                                                        : "the previous allocation is");
    }
    x = gavel::IsolatedAllocation(problem_);
    if (options_.objective == Objective::kFinishTimeFairness) return;
    const std::size_t types = problem_.workers.size();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (had_one_[Size(jobs[i])] == 0) continue;
      std::copy_n(previous_.begin() + static_cast<std::ptrdiff_t>(Size(jobs[i]) * types), types,
                  x.begin() + static_cast<std::ptrdiff_t>(i * types));
    }
  }

  Options options_;
  gavel::LevelLp lp_;
  gavel::FinishTimeFairness fairness_;
  gavel::Problem problem_, levelled_;
  std::vector<int> by_name_;  // types in alphabetical order: the reference's column order
  int basis_ = 0;
  gavel::Allocation previous_;         // [J, G]
  std::vector<std::uint8_t> had_one_;  // [J]
  int fallbacks_ = 0;
};

class Gavel final : public Scheduler {
 public:
  explicit Gavel(const Options& options) : source_(options) {
    // The reference shuffles the types for policies whose class name lacks "Perf".
    mechanism_options_.shuffle_types = options.objective == Objective::kIsolated ||
                                       (options.objective != Objective::kFifo && !options.aware);
    mechanism_options_.only_positive = options.objective == Objective::kFifo;
    mechanism_options_.min_reset_s = options.reset_s;
  }
  // Without rounds the mechanism itself reads attained service.
  Knowledge knowledge() const override {
    return source_.reads_future() ? Knowledge::kEstimate : Knowledge::kBlind;
  }
  void Reset(const ClusterView& view) override {
    mechanism_.Reset(view, mechanism_options_);
    source_.Reset(view);
  }
  void Decide(const ClusterView& view, Decision& decision) override {
    mechanism_.Decide(view, source_, decision);
  }

 private:
  PolicyAllocations source_;
  gavel::MechanismOptions mechanism_options_;
  gavel::RoundMechanism mechanism_;
};

}  // namespace

SchedulerInfo GavelInfo() {
  return {
      "gavel",
      "LP heterogeneity-aware allocation, run in rounds",
      "Narayanan et al., OSDI 2020",
      "max_min_fairness_perf (objective=max_min), max_min_fairness (objective=max_min,aware=false), "
      "min_total_duration_perf (objective=makespan), min_total_duration (objective=makespan,aware=false), "
      "finish_time_fairness_perf (objective=finish_time_fairness), "
      "finish_time_fairness (objective=finish_time_fairness,aware=false), "
      "isolated (objective=isolated), fifo_perf (objective=fifo)",
      Knowledge::kBlind,
      /*preemptive=*/true,
      kParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        Options options;
        options.objective = static_cast<Objective>(
            params.Choice("objective", {"max_min", "makespan", "finish_time_fairness", "isolated", "fifo"}));
        options.aware = params.Bool("aware");
        options.method =
            params.Choice("solver", {"ipm", "simplex"}) == 0 ? LpMethod::kInteriorPoint : LpMethod::kSimplex;
        options.compat = params.Bool("compat");
        options.reset_s = params.Number("reset_s", 0.0, 1e9);
        if (options.objective == Objective::kFifo && !options.aware) {
          throw Error(
              "gavel: objective=fifo has no aware=false form (the reference's is broken); expected "
              "aware=true, or the scheduler 'fcfs'");
        }
        return std::make_unique<Gavel>(options);
      }};
}

}  // namespace berth
