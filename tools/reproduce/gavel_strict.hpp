// Schedulers that only a reproduction needs, beside all others.
#pragma once

#include <span>

#include "env/sim/scheduler.hpp"

namespace berth {

// AllSchedulers and gavel_strict(objective=...): a cost objective's allocation with nothing on top. The
// reference's mechanism hands idle GPUs to any job, whatever its allocation (SPEC §7 step 7); where GPUs are
// rented by the hour, a job runs on the types that it was given, and idle ones are given back.
std::span<const SchedulerTable> ReproductionSchedulers();

}  // namespace berth
