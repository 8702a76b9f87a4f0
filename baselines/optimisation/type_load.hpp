// The types' loads as linear constraints: what the LP and the MIP share. A type of C GPUs stands for one
// machine of its speed times C (its jobs' GPU-seconds must pass through it), which for C = 1 is exact and
// otherwise a relaxation: optima of the programs bound every schedule from below.
#pragma once

#include <vector>

#include "baselines/lp.hpp"
#include "baselines/optimisation/instance.hpp"

namespace berth {

struct LoadModel {
  LpModel lp;                            // minimise the makespan, column 0
  std::vector<std::vector<int>> column;  // [n][G] of "job i on type j", -1 = not allowed
};

// Jobs only on types where they take at most `longest` seconds. Rows: every job somewhere; every type's load,
// that of running jobs included, within the makespan, which is ListSchedule's: the latest end of all.
LoadModel MakespanModel(const Instance& instance, double longest);

}  // namespace berth
