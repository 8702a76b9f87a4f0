// Sia's integer program (Jayaram Subramanya et al., SOSP 2023; siasosp23/artifacts, sia-simulator/sia.py:
// __solve_mip_rescaled): which job runs on how many GPUs of which type, solved to proven optimality.
//
//   minimise  sum_jk cost_jk x_jk + unallocated * (jobs - sum_jk x_jk),  x binary,
//   sum_k x_jk <= 1 for each job j,  sum_jk gpus_k x_jk <= capacity for each type.
//
// How: Lagrangian prices of the types bound every choice from below; options whose reduced cost exceeds the
// distance to the best choice known cannot be part of a better one; what is left goes through a dynamic
// program over the GPUs that are left. All of it in whole numbers, so that a proof is one.
#pragma once

#include <cstdint>
#include <vector>

namespace berth::sia {

struct Configuration {
  int type = 0;
  int nodes = 1;
  int gpus = 1;
};

struct Program {
  std::vector<int> capacity;                  // [types] GPUs
  std::vector<Configuration> configurations;  // [configurations]
  std::vector<double> cost;                   // [jobs, configurations] any sign; infinite: not to be chosen
  double unallocated = 1.1;                   // what a job without GPUs costs (lambda_n)
  std::vector<int> previous;                  // [jobs] the configuration held, -1 = none; empty: none of them
  std::vector<int> forced;  // [jobs] the configuration it must have, -1 = free; empty likewise
  int jobs = 0;
};

// TIE RULE. Among the choices of least objective: that which takes its configuration from the fewest jobs
// that hold one (`previous`; no GPUs at all counts like another configuration); among those, that of the
// fewest GPUs. Where `ties_proven` the answer is the best by both. Of jobs with equal costs and the same
// `previous` the first has the cheapest. Beyond that, which of the answers that tie comes follows from the
// program alone, on every machine, but by no order of jobs or configurations that could be stated. Costs
// count in steps of 0.01, or of 1e-9 if one is no multiple of 0.01. Sums of 1e-9 over hundreds of jobs leave
// no room for the rule: it is left out then, and `ties_proven` is false.
struct Answer {
  std::vector<int> chosen;   // [jobs] configuration, -1 = no GPUs
  double objective = 0.0;    // of `chosen`
  double bound = 0.0;        // no choice costs less
  bool proven = false;       // objective is bound, but for rounding: 1e-9 a job, 0 where costs are hundredths
  bool ties_proven = false;  // and the tie rule was carried through
  std::int64_t steps = 0;    // states tried: the same on every machine
};

// All of it is repeatable on every machine. Programs of up to six types take milliseconds; of eight and more
// some outlast the steps, and HiGHS' branch and cut proves their objective, within its tolerances (1e-6).
struct Effort {
  std::int64_t steps = 5'000'000;      // states to try for the proof, about 40 ns each
  std::int64_t tie_steps = 3'000'000;  // of them for the tie rule
  int nodes = 100'000;                 // of the search tree of HiGHS; 0: without it
};

// Throws Error where the program is none: one line. Pure function, any thread.
Answer Solve(const Program& program, const Effort& effort = {});

}  // namespace berth::sia
