// R || C_max and R || sum w C as mixed-integer programs. Where every type has one GPU they are exact; a type
// of several stands for one machine of their joint speed (type_load.hpp), so that the program's bound holds
// for every schedule and its assignment is carried out by list scheduling.
#pragma once

#include "baselines/mip.hpp"
#include "baselines/optimisation/planned.hpp"

namespace berth {

// Never worse than Greedy, from which it starts; `proven` (may be null) gets whether the program was solved
// to its gap.
Solution SolveMilp(const Instance& instance, Target target, const MipLimits& limits, bool* proven = nullptr);

}  // namespace berth
