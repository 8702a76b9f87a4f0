// Shared by the blocks of rigid jobs with requests.
#pragma once

#include <string>

#include "env/base/check.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {

inline constexpr double kLongestSeconds = 1e12;  // never, as a number

// Throws Error that names `block` where the process is preemptive or knows no estimates.
inline void ExpectRigidJobs(const std::string& block, const BlockSetup& setup) {
  if (setup.preemptive) {
    throw Error(Join("block ", block, ": expected a non-preemptive process, found a preemptive one"));
  }
  if (setup.knowledge < Knowledge::kEstimate) {
    throw Error(
        Join("block ", block, ": expected knowledge estimate or oracle, found ", ToString(setup.knowledge)));
  }
}

}  // namespace berth
