// Packed programs over classes: jobs of one kind, gang and weight stand as one, and so do all pairs of two
// classes. With the published rates there are 26 kinds of single-GPU jobs, so the program does not grow with
// the jobs.
#pragma once

#include "baselines/gavel/combos.hpp"
#include "baselines/gavel/job_classes.hpp"

namespace berth::gavel {

struct PackedClasses {
  JobClasses jobs;
  PackedProblem one;  // a job of each class, with members
};
// REQUIRES: problem.kind [m].
PackedClasses ClassesOf(const PackedProblem& problem);
// Of the jobs, from that of their classes: each member and each pair of members alike.
PackedAllocation Spread(const PackedClasses& classes, const PackedAllocation& x);

}  // namespace berth::gavel
