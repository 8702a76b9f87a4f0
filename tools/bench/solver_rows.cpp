// Integer programs of configurations, and programs of shares at the scale of the papers that solve them
// approximately: jobs that are all unlike, and pairs of jobs of few kinds.
#include <algorithm>

#include "baselines/adaptive/sia_matrix.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/unlike_jobs.hpp"

namespace berth::bench {
namespace {

// 8,192 jobs of 26 kinds, four gangs and four weights on 3 types, a quarter as many GPUs of each as jobs: as
// the instances of Soroush (Namyar et al., NSDI 2024, scripts/benchmark.py, with its own skew of weights).
gavel::Problem AlikeJobs() {
  Stream random(/*seed=*/2, Purpose::kTest);
  constexpr int kJobs = 8192, kKinds = 26, kTypes = 3;
  std::vector<double> rates;
  for (int kind = 0; kind < kKinds; ++kind) {
    const double base = Exp(random.Normal());
    for (int type = 0; type < kTypes; ++type) rates.push_back(base * (1 + type) * Exp(0.5 * random.Normal()));
  }
  gavel::Problem problem;
  problem.workers.assign(kTypes, kJobs / 4);
  for (int type = 0; type < kTypes; ++type) problem.type_names.push_back(Join("type", type));
  for (int job = 0; job < kJobs; ++job) {
    const std::size_t kind = random.Below(kKinds);
    const auto part = static_cast<int>(random.Below(10));  // of single GPUs 7 in 10
    problem.key.push_back(job);
    problem.gang.push_back(part < 7 ? 1 : 1 << (part - 6));
    problem.weight.push_back(1 << (job % 4));
    for (int type = 0; type < kTypes; ++type)
      problem.throughput.push_back(rates[kind * kTypes + static_cast<std::size_t>(type)]);
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

// 2,048 jobs of 26 kinds on 512 GPUs of each of three types (after POP, SOSP 2021); beside each other
// jobs keep 0.4 to 1 of their rates.
gavel::PackedProblem PairsOfKinds(bool unlike_weights) {
  constexpr int kJobs = 2048, kKinds = 26, kTypes = 3;
  Stream random(/*seed=*/2, Purpose::kTest);
  gavel::PackedProblem problem;
  problem.base.workers.assign(kTypes, kJobs / 4);
  problem.base.type_names = {"slow", "middle", "fast"};
  problem.kinds = kKinds;
  std::vector<double> rate;
  for (int kind = 0; kind < kKinds; ++kind) {
    const double base = Exp(random.Normal());
    for (int type = 0; type < kTypes; ++type) rate.push_back(base * (1 + type * random.Uniform(0.2, 3.0)));
  }
  for (int row = 0; row < kKinds * kKinds * kTypes; ++row) {
    const int its = row / (kKinds * kTypes) * kTypes + row % kTypes;
    problem.beside.push_back(random.Uniform(0.4, 1.0) * rate[static_cast<std::size_t>(its)]);
  }
  for (int job = 0; job < kJobs; ++job) {
    const auto kind = static_cast<std::ptrdiff_t>(random.Below(kKinds));
    problem.kind.push_back(static_cast<int>(kind));
    problem.base.key.push_back(job);
    problem.base.gang.push_back(1);
    problem.base.weight.push_back(unlike_weights ? random.Uniform(1.0, 2.0) : 1.0);
    const auto its = rate.begin() + kind * kTypes;
    problem.base.throughput.insert(problem.base.throughput.end(), its, its + kTypes);
  }
  return problem;
}

Measured PackedTimes(bool unlike_weights, const BenchSetup& setup) {
  const gavel::PackedProblem problem = PairsOfKinds(unlike_weights);
  const gavel::ObjectiveInfo objective = gavel::MaxMinObjective();
  Measured measured;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    Params params(Spec{}, objective.params);
    const auto policy = objective.make_packed({}, params);
    gavel::PackedAllocation x;
    const double begin = CpuSeconds();
    if (!policy->Allocate(problem, x)) throw Error(Join("the policy found no answer: ", policy->failure()));
    measured.values.push_back(CpuSeconds() - begin);
  }
  return measured;
}

// Sia's program (SOSP 2023): three types of 24, 16 and 24 GPUs, `scale` times as many, on nodes of 4 and 8;
// speed-ups by a power law, six in ten jobs hold a configuration.
sia::Program SiaProgram(std::uint64_t seed, int scale, int jobs) {
  struct Kind {
    int nodes, gpus, most_nodes;
    double speed;
  };
  Stream random(seed, Purpose::kTest);
  sia::Program program;
  const std::vector<Kind> kinds = {{6, 4, 16, 1.0}, {2, 8, 2, 4.0}, {3, 8, 3, 2.0}};
  for (const Kind& kind : kinds) {
    const auto type = static_cast<int>(program.capacity.size());
    program.capacity.push_back(scale * kind.nodes * kind.gpus);
    for (int gpus = 1; gpus < kind.gpus; gpus *= 2) program.configurations.push_back({type, 1, gpus});
    for (int nodes = 1; nodes <= std::min(scale * kind.nodes, kind.most_nodes); ++nodes)
      program.configurations.push_back({type, nodes, nodes * kind.gpus});
  }
  const std::size_t configurations = program.configurations.size();
  program.jobs = jobs;
  for (int job = 0; job < jobs; ++job) {
    const double power = random.Uniform(0.2, 0.9);
    const int most = 1 << random.Below(7);
    std::vector<double> speed;
    for (const Kind& kind : kinds) speed.push_back(kind.speed * Exp(random.Uniform(-0.7, 0.7)));
    std::vector<float> goodput;
    for (const sia::Configuration& its : program.configurations) {
      const double all = speed[static_cast<std::size_t>(its.type)] * Pow(its.gpus, power);
      goodput.push_back(its.gpus <= most ? static_cast<float>(all) : 0.0f);
    }
    const auto held = static_cast<int>(random.Below(static_cast<std::uint32_t>(configurations)));
    const bool holds =
        random.Below(10) < 6 && program.configurations[static_cast<std::size_t>(held)].gpus <= most;
    program.previous.push_back(holds ? held : -1);
    const std::vector<float> row = sia::NormalisedGoodputs(goodput, program.configurations);
    const std::vector<double> costs = sia::Costs(row, program.previous.back(), random.Uniform(0.5, 1.0));
    program.cost.insert(program.cost.end(), costs.begin(), costs.end());
  }
  return program;
}

// The slowest of ten programs for each number of jobs.
Measured SiaTimes(int scale, const std::vector<int>& jobs, const BenchSetup& setup) {
  Measured measured;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    double slowest = 0.0;
    for (const int count : jobs) {
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const sia::Program program = SiaProgram(seed, scale, count);
        const double begin = CpuSeconds();
        const sia::Answer answer = sia::Solve(program);
        slowest = std::max(slowest, CpuSeconds() - begin);
        if (!answer.ties_proven) throw Error(Join("program ", seed, " of ", count, " jobs is not proven"));
      }
    }
    measured.values.push_back(slowest);
  }
  return measured;
}

constexpr BenchRow kSolverRows[] = {
    {"solvers/sia_64", "Sia's integer program, 64 GPUs, 10 to 120 jobs, proven; slowest of 40", "CPU s",
     Bound::kAtMost, 0.01, 0,
     [](const BenchSetup& setup) {
       return SiaTimes(1, {10, 20, 40, 120}, setup);
     }},
    {"solvers/sia_2048", "the same, 2,048 GPUs, 300 and 1,200 jobs; slowest of 20", "CPU s", Bound::kAtMost,
     0.1, 0,
     [](const BenchSetup& setup) {
       return SiaTimes(32, {300, 1200}, setup);
     }},
    {"solvers/packed_2048", "packed max-min, 2,048 jobs of 26 kinds, all pairs, answer proven", "CPU s",
     Bound::kAtMost, 0.05, 0, [](const BenchSetup& setup) { return PackedTimes(false, setup); }},
    {"solvers/packed_2048_unlike", "the same, weights all unlike", "CPU s", Bound::kAtMost, 2, 0,
     [](const BenchSetup& setup) { return PackedTimes(true, setup); }},
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
    {"solvers/water_filling_8192", "full water filling, 3 types, 8,192 jobs of some 400 classes", "CPU s",
     Bound::kAtMost, 0.2, 0,
     [](const BenchSetup& setup) { return Times(gavel::WaterFillingObjective(), AlikeJobs(), setup); }},
    {"solvers/water_filling_12x10000", "full water filling, 12 types, 100,000 GPUs, 10,000 unlike jobs",
     "CPU s", Bound::kAtMost, 5, 0,
     [](const BenchSetup& setup) {
       return Times(gavel::WaterFillingObjective(), UnlikeJobs(10'000, 12, 8'333), setup);
     }},
};

}  // namespace

std::span<const BenchRow> SolverRows() {
  return kSolverRows;
}

}  // namespace berth::bench
