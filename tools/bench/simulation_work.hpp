// What rows about simulations run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/metrics.hpp"
#include "env/sim/scenario.hpp"
#include "tools/evaluation.hpp"

namespace berth::bench {

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

}  // namespace berth::bench
