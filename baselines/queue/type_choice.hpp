// Where a non-preemptive rule puts a job among the types with room for its gang on which it can run.
#pragma once

#include "env/plan.hpp"
#include "env/spec.hpp"

namespace berth {

enum class TypeChoice { kFastest, kFirst, kRoomiest };
inline constexpr ParamInfo kPlaceParam = {
    "place", "fastest",
    "type a job starts on: fastest | first (in cluster order) | roomiest (most free GPUs)"};
TypeChoice ReadTypeChoice(Params& params);

// The chosen type, or -1 when none has room. Ties go to the first type.
int ChooseType(const ClusterView& view, const Plan& plan, int job, TypeChoice choice);

}  // namespace berth
