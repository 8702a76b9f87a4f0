// How far schedulers are from the best schedule there is, on instances small enough to know it
// (exact_schedule.hpp states the model): all of a job's future known, no stops, no two jobs on one GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/scenario.hpp"
#include "tools/bench/exact_schedule.hpp"
#include "tools/json.hpp"

namespace berth::bench {

inline constexpr int kOptimalityJobs = 7;  // at most

// Instance `index` of a fixed stream: 4 to 7 jobs of gang 1 or 2 on 2 or 3 GPU types of 1 to 3 GPUs each, run
// times of 10 to 100 s times a factor of 0.5 to 2.5 of their own on every type. In even ones all jobs arrive
// at 0, in odd ones within 60 s.
ExactProblem RandomInstance(int index);
// The same as a scenario, clock event; job j of the problem is job j of the scenario.
Scenario ToScenario(const ExactProblem& problem);

struct Gaps {  // of value / optimum - 1; 0 = optimal
  double mean = 0, median = 0, p95 = 0, max = 0;
  double optimal = 0;  // share of instances within 1e-9 of the optimum, or below it
};
struct OptimalityRow {
  std::string scheduler, knowledge;
  bool preemptive = false;  // may beat the optimum, which does not stop jobs: its gaps may be negative
  int instances = 0;        // that count: every job completed
  int failed = 0;           // the run ended with an error or left jobs out
  std::string why;          // of the first failure
  Gaps jct, makespan;
};

// Every registered baseline where `schedulers` is empty.
std::vector<OptimalityRow> MeasureOptimality(const std::vector<std::string>& schedulers, int instances);

std::string TableOf(const std::vector<OptimalityRow>& rows, int instances);
Json JsonOf(const std::vector<OptimalityRow>& rows, int instances);  // keys: tools/bench/README.md

}  // namespace berth::bench
