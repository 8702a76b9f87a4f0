// A policy that nobody trained, for measuring and testing what runs policies.
#pragma once

#include <cstdint>
#include <string>

#include "policies/bundle.hpp"

namespace berth::bench {

// Gaussian weights of the usual size; semantics redecide where there is a `done`, else commit. No examples.
PolicyBundle RandomPolicy(const std::string& network, const ObservationLayout& layout, int num_actions,
                          std::uint64_t seed);

}  // namespace berth::bench
