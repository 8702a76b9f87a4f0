// The best non-preemptive schedule of a few jobs on unrelated GPU types, by branch and bound: what
// `berth bench --optimality` measures schedulers against.
//
// Model: job j may start at its arrival or later, holds `gang` GPUs of one type g from its start for
// seconds[j][g] without a break, and no GPU serves two jobs at once (R | r_j, size_j | C_max or sum C_j in
// the notation of Graham et al. 1979). GPUs of one type are alike; which of them a job has changes nothing.
#pragma once

#include <vector>

namespace berth::bench {

struct ExactProblem {
  std::vector<int> gpus;                     // [G]
  std::vector<double> arrival;               // [J] s
  std::vector<int> gang;                     // [J]
  std::vector<std::vector<double>> seconds;  // [J][G] run time; infinite = cannot run there

  int jobs() const { return static_cast<int>(arrival.size()); }
  int types() const { return static_cast<int>(gpus.size()); }
};

enum class Aim { kSumCompletion, kMakespan };

struct ExactSchedule {
  double value = 0;           // sum of completions, or the last one, s
  std::vector<int> type;      // [J]
  std::vector<double> start;  // [J]
  long nodes = 0;             // visited
};

// REQUIRES: at least one job, each of which can run somewhere. Exponential in the number of jobs: meant for
// ten or fewer.
ExactSchedule SolveExactly(const ExactProblem& problem, Aim aim);

}  // namespace berth::bench
