// Programs of shares at the scale of the papers that solve them approximately, of jobs that are all unlike.
#include "baselines/gavel/objective_list.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"

namespace berth::bench {
namespace {

// GPUs from 1 to twice `mean_gpus` of each type; rates log-normal by job, type and pair of both (a tenth of
// the pairs cannot run), gangs of 1 to 8, weights of 1 to 10.
gavel::Problem UnlikeJobs(int jobs, int types, int mean_gpus) {
  Stream random(/*seed=*/1, Purpose::kTest);
  const auto spread = [&](double by) { return Exp(by * random.Normal()); };
  gavel::Problem problem;
  std::vector<double> speed;
  for (int type = 0; type < types; ++type) {
    problem.workers.push_back(1 +
                              static_cast<int>(random.Below(static_cast<std::uint32_t>(2 * mean_gpus - 1))));
    problem.type_names.push_back(Join("type", type));
    speed.push_back(spread(0.5));
  }
  for (int job = 0; job < jobs; ++job) {
    const double base = spread(1.0);
    const auto can = static_cast<int>(random.Below(static_cast<std::uint32_t>(types)));
    problem.key.push_back(job);
    problem.gang.push_back(1 << random.Below(4));
    problem.weight.push_back(random.Uniform(1.0, 10.0));
    for (int type = 0; type < types; ++type) {
      const double rate = base * speed[static_cast<std::size_t>(type)] * spread(0.25);
      problem.throughput.push_back(type != can && random.Below(10) == 0 ? 0.0 : rate);
    }
  }
  return problem;
}

Measured Times(const gavel::ObjectiveInfo& objective, const gavel::Problem& problem,
               const BenchSetup& setup) {
  Measured measured;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    Params params(Spec{}, objective.params);
    const auto policy = objective.make({}, params);
    gavel::Allocation x;
    const double begin = CpuSeconds();
    if (!policy->Allocate(problem, x)) throw Error(Join("the policy found no answer: ", policy->failure()));
    measured.values.push_back(CpuSeconds() - begin);
  }
  return measured;
}

constexpr BenchRow kRows[] = {
    {"solvers/max_min_456x2000", "aware max-min, 456 types, 2,000 unlike jobs, answer proven", "CPU s",
     Bound::kAtMost, 3, 0,
     [](const BenchSetup& setup) {
       return Times(gavel::MaxMinObjective(), UnlikeJobs(2000, 456, 8), setup);
     }},
    {"solvers/proportional_456x2000", "proportional fairness, 456 types, 2,000 unlike jobs, answer proven",
     "CPU s", Bound::kAtMost, 5, 0,
     [](const BenchSetup& setup) {
       return Times(gavel::ProportionalFairnessObjective(), UnlikeJobs(2000, 456, 8), setup);
     }},
    {"solvers/max_min_12x10000", "aware max-min, 12 types, 100,000 GPUs, 10,000 unlike jobs", "CPU s",
     Bound::kAtMost, 5, 0,
     [](const BenchSetup& setup) {
       return Times(gavel::MaxMinObjective(), UnlikeJobs(10'000, 12, 8'333), setup);
     }},
    {"solvers/proportional_12x10000", "proportional fairness, 12 types, 100,000 GPUs, 10,000 unlike jobs",
     "CPU s", Bound::kAtMost, 5, 0,
     [](const BenchSetup& setup) {
       return Times(gavel::ProportionalFairnessObjective(), UnlikeJobs(10'000, 12, 8'333), setup);
     }},
};

}  // namespace

std::span<const BenchRow> SolverRows() {
  return kRows;
}

}  // namespace berth::bench
