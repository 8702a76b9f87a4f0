// Scheduling as exact programs over single machines. A type of C GPUs stands for one machine of its speed
// times C (its jobs' GPU-seconds must pass through it), which for C = 1 is exact and otherwise a relaxation:
// optima of the programs bound every schedule from below, and their assignments are carried out by list
// scheduling.
#pragma once

#include <vector>

#include "baselines/lp.hpp"
#include "baselines/mip.hpp"
#include "baselines/optimisation/planned.hpp"

namespace berth {

struct LoadModel {
  LpModel lp;                            // the makespan is column 0
  std::vector<std::vector<int>> column;  // [n][G] of "job i on type j", -1 = not allowed
};

// Jobs only on types where they take at most `longest` seconds. Rows: every job somewhere; every type's load,
// that of running jobs included, within the makespan, which is ListSchedule's: the latest end of all.
LoadModel MakespanModel(const Instance& instance, double longest);

// Minimise the sum over types of what is the greater of two bounds on sum w C there. A job of GPU-seconds a
// and length p ends no sooner than front + pace (the a of those before it + its a / 2) + p / 2, by its mean
// busy time, in Smith's order (Eastman, Even & Isaacs, Management Science 11, 1964, for idle GPUs and gangs
// of one); and no sooner than its gang has GPUs, and p. y_ik, that i is before k on the type, is at least x_i
// + x_k - 1. With one GPU it is exact.
LoadModel CompletionModel(const Instance& instance);

// Lenstra, Shmoys & Tardos' linear program for R || C_max and its rounding (Mathematical Programming 46,
// 1990): for jobs of one GPU the plan's makespan is at most twice the least possible, from an idle cluster.
struct RoundedAssignment {
  Assignment assignment;  // jobs in arrival order
  double bound = 0.0;     // s, no schedule ends sooner; 0 where an LP's answer failed the check
};

// The least T for which the LP over pairs that take at most T has an answer within T; a vertex of it has
// fewer split jobs than there are types, and each goes to a type of its own among those it is split over.
// Where the solver has no answer that is proven, each job where it ends soonest.
RoundedAssignment RoundAssignmentLp(const Instance& instance, CheckedLp& lp);

// R || C_max and R || sum w C: exactly by places (places.hpp) where that can be. Otherwise the plans of the
// best rules (rule_plans.hpp) and, of at most `branch` jobs, a mixed-integer program's, each improved by
// insertion. Never worse than a plan of RulePlans. No plan is better by more than value - bound.
Solution SolveMilp(const Instance& instance, Target target, const MipLimits& limits, int branch = 1000000);

}  // namespace berth
