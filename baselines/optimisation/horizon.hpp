// A plan for some of the jobs, and how those beyond this horizon follow.
#pragma once

#include <functional>

#include "baselines/optimisation/planned.hpp"

namespace berth {

// `solve` plans the n jobs that come first: for a sum of completions by Smith's rule, the least GPU-seconds
// over weight, because the earliest may be long jobs that every good plan puts last; for the makespan, to
// which the order matters little, the earliest. The others follow in the same order, each where it ends
// soonest; but where a rule has a plan for all of less sum (RulePlans), that is taken. Value and bound are
// those of the n jobs, by `solve`.
// With n >= jobs it is `solve` alone. REQUIRES: n >= 1, at least one job; `solve` gets at least two.
Solution PlanFirst(const Instance& instance, Target target, int n,
                   const std::function<Solution(const Instance&)>& solve);

}  // namespace berth
