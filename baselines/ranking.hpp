// What preemptive rules share: jobs sorted by a rank fill an empty cluster from the first to the last.
#pragma once

#include <utility>
#include <vector>

#include "env/plan.hpp"

namespace berth {

// (rank, job), the least first, ties in arrival order.
using Ranking = std::vector<std::pair<double, int>>;

// The fastest type with room, or the one where the job runs if that is as fast; -1 = no room anywhere.
int FastestOrHere(const ClusterView& view, const Plan& plan, int job);

// Sorts `ranking` and puts its jobs into `plan` (already begun), each on FastestOrHere; a job that does not
// fit is passed over.
void FillByRank(const ClusterView& view, Ranking& ranking, Plan& plan);

// Seconds without progress that running on `type` next would cost (env/scenario.hpp: Costs); 0 where it runs
// there already or never ran.
double ChangeSeconds(const ClusterView& view, int job, int type);

}  // namespace berth
