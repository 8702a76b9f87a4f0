// Schedulers of this folder, for `tools` and `tests` to join with the baselines.
#pragma once

#include "env/sim/scheduler.hpp"
#include "policies/bundle.hpp"

namespace berth {

SchedulerTable PolicySchedulers();

// The scheduler that `policy(file=...)` makes, from a bundle in memory. `name` stands for the file in errors.
// sample: draw from the policy's distribution instead of taking its best action.
std::unique_ptr<Scheduler> MakePolicyScheduler(PolicyBundle bundle, const std::string& name, bool sample);

}  // namespace berth
