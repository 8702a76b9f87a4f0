// Shockwave's market over the rounds of a window: who runs in which round, so that the product of utilities
// is greatest.
#pragma once

#include <vector>

namespace berth {

// A job at the window's start. Progress counts from 0 to 1.
struct WindowJob {
  int gang = 1;
  double done = 0.0;         // progress so far, in [0, 1)
  double seconds = 1.0;      // of the whole job, where it runs at the cluster's mean pace
  std::vector<double> pace;  // [G] progress a round on the type, 0 = it cannot run there
  double least = 0.0;  // progress at the window's end that keeps it finish-time fair; above 1 = too late
  double ratio = 1.0;  // finish time that is to be expected over the fair one, rho
};

struct WindowOptions {
  int rounds = 20;         // R
  double round_s = 120.0;  // s
  double power = 5.0;      // of rho, where that is above rho_max (lambda in the authors' program)
  double makespan = 1e-3;  // what a second of the longest remaining run weighs (k in the authors' program)
  double rho_max = 1.0;
  double gap = 0.01;  // relative, of the integer programs
  int nodes = 100;    // of each of their search trees
};

struct WindowPlan {
  std::vector<std::vector<int>> type;  // [n][R] where the job runs in that round, -1 = nowhere
  bool fair = true;                    // every job keeps its `least`
  std::vector<double> weight;          // [n] of its utility, 1 where `fair`
  double value = 0.0;                  // the objective, by the rounds that each job has
};

// Zheng, Pan, Khan, Venkataraman & Akella, NSDI 2023, as their program has it
// (github.com/uw-mad-dash/shockwave, scheduler/shockwave.py):
//
//   max  sum_j weight_j log(u_j) / (n R) - makespan * max_j (1 - u_j) seconds_j
//   u_j <= done_j + sum over the rounds in which j runs of its pace, u_j <= 1; in each round its GPUs.
//
// log is linear between 0, 0.2, 0.4, 0.6, 0.8 and 1, and log(1e-6) at 0. First with u_j >= least_j and
// weights of
// 1. Where that cannot be, without: weight_j = ratio_j^power for jobs of ratio_j > rho_max, ratio_j^100 for
// those of them with less than a round to go (at most 1e6). Then rounds are exchanged: each job keeps how
// many it has, and sum_j weight_j x (mean index of its rounds) is least. The authors do that in the second
// case alone and leave it to their solver in the first. The first program asks how many rounds each job has
// on each type: it has the same optimum as that of the single rounds where these can then be shared out,
// which is so without gangs; where they cannot, that of the single rounds follows. `room` [G]: GPUs.
WindowPlan PlanWindow(const std::vector<WindowJob>& jobs, const std::vector<int>& room,
                      const WindowOptions& options);

// log u as above.
double WindowUtility(double progress);

}  // namespace berth
