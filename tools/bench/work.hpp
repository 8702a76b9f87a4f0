// What rows and sweeps do: steps of environments, simulations, and Gavel's policies alone, without the rounds
// that carry their allocations out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "baselines/gavel/objective.hpp"
#include "env/base/rng.hpp"
#include "env/gym/batch_env.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scenario.hpp"
#include "tools/evaluation.hpp"

namespace berth::bench {

// `berth train`'s own: the default workload and cluster, preemptive, oracle, rounds(360), episodes of 300
// jobs after up to 100 of warm-up by srpt; Q = 32.
std::unique_ptr<BatchEnv> DefaultEnv(int num_envs, int threads);

// The same environment, which plays its episodes with random legal actions: the first legal one from a random
// place on, which costs little beside a step and is counted in it.
class RandomActor {
 public:
  explicit RandomActor(BatchEnv& env, std::uint64_t seed = 0);
  std::int64_t Step(int times);  // steps of all environments together

 private:
  BatchEnv& env_;
  StepStorage storage_;
  std::vector<std::int32_t> actions_;
  Stream stream_;
};

// Evaluation workload 1000 of a generator.
Scenario Generated(const std::string& workload, const std::string& cluster, const Clock& clock);

struct SimulationCost {
  double cpu_s = 0;  // of the simulation alone: the scenario is there
  double mean_jct_s = 0;
  std::int64_t decisions = 0;
};
// One a repeat; each by a scheduler of its own.
std::vector<SimulationCost> Simulate(const Scenario& scenario, const std::string& scheduler, Window window,
                                     int repeats);

// 64 runs: four schedulers on 16 workloads of the default.
EvaluationPlan EvaluationRuns(int threads);

// N jobs at time 0 on N/4 GPUs of each of 3 types, single GPUs, as the reference's own measurement draws them
// (Narayanan et al., OSDI 2020, Figure 12; scripts/microbenchmarks/sweep_policy_runtimes.py of its code).
Scenario SolveInstance(int jobs);

// CPU-seconds of one allocation for the jobs at time 0, from the view to the answer, checks included; each
// repeat by a policy that has seen nothing before. Throws Error where the policy finds no answer.
std::vector<double> SolveTimes(const gavel::ObjectiveInfo& objective, bool packed, const Scenario& scenario,
                               int repeats);
std::vector<double> SolveMaxMin(const Scenario& scenario, int repeats);

}  // namespace berth::bench
