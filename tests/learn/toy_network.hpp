// An architecture of the tests alone, one description and nothing else: what walks the architectures trains,
// saves, exports and runs it too (main.cpp makes it known). Its layers read what the shipped ones do not:
// computed values of jobs and types in a layer over pairs, rows side by side over pairs, a value twice.
#pragma once

#include "policies/architecture.hpp"

namespace berth::test {

// `toy(units=6,crowd=false)`; with crowd=true a job also sees the mean of all, which the fused passes lack.
ArchitectureInfo ToyNetwork();

}  // namespace berth::test
