// What readers and generators of jobs share that choose their batch size.
#pragma once

#include "env/sim/features.hpp"

namespace berth {

// With a feature that knows how fast such jobs are and how much work they have: goodput, as it ships, unless
// one is on.
Features KnowingJobs(const Features& features);

}  // namespace berth
