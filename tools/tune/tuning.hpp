// What `berth tune` does: a scheduler's numeric parameters searched by CMA-ES. A candidate's value is the
// mean over workloads of ln(mean JCT / mean JCT of the reference scheduler on the same workload), or of
// another reward's sum instead of the JCT; every
// generation draws new training workloads, and all candidates of one generation see the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "env/gym/scenario_source.hpp"
#include "env/sim/metrics.hpp"

namespace berth {

struct Tuning {
  Spec scheduler;                       // parameters that are searched are left out or give the start
  std::vector<std::string> parameters;  // [n] numeric
  std::vector<double> start, scales;    // [n] scales > 0: first standard deviations
  std::string reference;                // scheduler spec
  std::shared_ptr<const ScenarioSource> source;
  Window pieces{0, -1};        // a fixed source: its jobs that workloads are pieces of
  std::string reward = "jct";  // what is minimised; env/gym/rewards.hpp
  int workloads = 8;           // a generation
  int jobs = 0;                // a workload; 0 = the source's own number
  Window window;               // measured
  int population = 0;          // 0 = CMA-ES's own
  int generations = 0;
  double seconds = 0.0;  // 0 = no limit
  std::uint64_t seed = 0;
  int threads = 1;
  std::function<void(int generation, double best, double step)> on_generation = nullptr;
  const std::atomic<bool>* interrupted = nullptr;
};

struct Tuned {
  Spec scheduler;  // with what was found, four digits
  std::vector<double> values;
  int generations = 0;
};

// Same seed and same number of generations: same result, on any number of threads. Throws Error for what
// cannot run, and where the reference leaves jobs of the window unfinished.
Tuned Tune(const Tuning& tuning);

// The spec with `names[i]` = `values[i]`, in place where it is given, else at the end.
Spec WithParameters(const Spec& spec, const std::vector<std::string>& names,
                    const std::vector<double>& values);

// The reward, a job, of each scheduler (of jct: mean JCT, s) on `count` training workloads that no generation
// draws: [schedulers][count].
std::vector<std::vector<double>> Validate(const Tuning& tuning, const std::vector<std::string>& schedulers,
                                          int count);

}  // namespace berth
