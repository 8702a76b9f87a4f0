// Lenstra, Shmoys & Tardos' linear program for R || C_max and its rounding (Mathematical Programming 46,
// 1990): for jobs of one GPU the plan's makespan is at most twice the least possible, from an idle cluster.
#pragma once

#include "baselines/checked_lp.hpp"
#include "baselines/optimisation/instance.hpp"

namespace berth {

struct RoundedAssignment {
  Assignment assignment;  // jobs in arrival order
  double bound = 0.0;     // s, no schedule ends sooner; 0 where an LP's answer failed the check
};

// The least T for which the LP over pairs that take at most T has an answer within T; a vertex of it has
// fewer split jobs than there are types, and each goes to a type of its own among those it is split over.
// Where the solver has no answer that is proven, each job where it ends soonest.
RoundedAssignment RoundAssignmentLp(const Instance& instance, CheckedLp& lp);

}  // namespace berth
