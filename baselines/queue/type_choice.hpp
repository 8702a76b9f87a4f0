// Where a non-preemptive rule puts a job among the types with room for its gang on which it can run.
#pragma once

#include "env/base/spec.hpp"
#include "env/sim/plan.hpp"

namespace berth {

enum class TypeChoice { kFastest, kFirst, kRoomiest, kBestFit, kVectorFit };
inline constexpr ParamInfo kPlaceParam = {
    "place", "fastest",
    "type a job starts on: fastest | first (in cluster order) | roomiest (most free GPUs: worst fit) | "
    "best_fit (fewest free GPUs that do) | vector_fit (least left of GPUs and of memory)"};
TypeChoice ReadTypeChoice(Params& params, const char* param = kPlaceParam.name);

// What vector_fit makes least: the squared norm of what a type has left once the job is there, GPUs over the
// cluster's GPUs and GB over the cluster's GB. What a job needs is what its type's traits say, otherwise the
// memory of the smallest GPU that it can run on, which is the most that it can need.
// Norm-based greedy vector packing: Panigrahy, Talwar, Uyeda & Wieder, Heuristics for Vector Bin Packing,
// 2011.
double LeftOver(const ClusterView& view, const Plan& plan, int job, int type);

// Is `type` the better choice than `than`, where both have room for the job?
bool BetterType(const ClusterView& view, const Plan& plan, int job, int type, int than, TypeChoice choice);

// The chosen type, or -1 when none has room. Ties go to the faster type, then to the first.
int ChooseType(const ClusterView& view, const Plan& plan, int job, TypeChoice choice);

}  // namespace berth
