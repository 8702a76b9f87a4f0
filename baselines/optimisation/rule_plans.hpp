// What non-preemptive rules of a queue would do with an instance, as assignments: where searches begin that
// must not do worse than a rule whose plan they could have had.
#pragma once

#include <span>
#include <vector>

#include "baselines/optimisation/instance.hpp"

namespace berth {

// Jobs start in `order` as soon as some type has room, each on the fastest that then has; with `overtake` who
// does not fit is passed by those behind. O(n GPUs), with `overtake` O(n^2 G + n GPUs).
Assignment Dispatch(const Instance& instance, std::span<const int> order, bool overtake);

// Again and again the job and the type of least GPU-seconds over weight among those that fit; srpt and
// max_weight without stops. O(n^2 G + n GPUs).
Assignment DispatchPairs(const Instance& instance);

struct ValuedPlan {
  double value;
  Assignment plan;
};

// The plans of the orders by arrival, length, and GPU-seconds over weight, up and down, each by
// EarliestFinish (which waits for a faster type) and by Dispatch with and without overtaking: fcfs, sjf, ljf,
// saf, Smith's rule, and their like with backfilling; and that of DispatchPairs. The least value first.
// Greedy's are among them.
std::vector<ValuedPlan> RulePlans(const Instance& instance, Target target);

}  // namespace berth
