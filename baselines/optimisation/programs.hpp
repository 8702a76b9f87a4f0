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
  LpModel lp;                            // minimise the makespan, column 0
  std::vector<std::vector<int>> column;  // [n][G] of "job i on type j", -1 = not allowed
};

// Jobs only on types where they take at most `longest` seconds. Rows: every job somewhere; every type's load,
// that of running jobs included, within the makespan, which is ListSchedule's: the latest end of all.
LoadModel MakespanModel(const Instance& instance, double longest);

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

// R || C_max and R || sum w C as mixed-integer programs.
// Never worse than Greedy, from which it starts; `proven` (may be null) gets whether the program was solved
// to its gap.
Solution SolveMilp(const Instance& instance, Target target, const MipLimits& limits, bool* proven = nullptr);

}  // namespace berth
