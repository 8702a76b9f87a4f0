// What tenants have used by a moment: schedulers that remember it begin there and know nothing.
#pragma once

#include <string>

#include "tools/forecast/start_forecast.hpp"

namespace berth {

// The spec with parameter `usage` where it is `slurm(...)` without one: GPU-seconds of the jobs of the
// moment, decayed as its slurm.conf says. Others as they are.
std::string WithUsage(const std::string& spec, const StartMoment& moment);

}  // namespace berth
