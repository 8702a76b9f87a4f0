// Who goes first, searched by one who knows every job to come: how far below a rule a sequence can be run.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "env/sim/scenario.hpp"

namespace berth {

// The sequence with weights that say who goes first, for a scheduler of heaviest weight first
// (`priority(...)`, as `spec`). The search begins with the order in which one of `rules`, the one whose
// order does best, starts the jobs, moves one job at a time (half the time one that waits long) to another
// place, and keeps what does not raise the mean bounded slowdown; `trials` runs in all, drawn from `seed`. It
// bounds nothing: a longer one may find better. Thread rule: any thread at once.
Scenario SearchedOrder(const Scenario& sequence, std::span<const std::string> rules, const std::string& spec,
                       int trials, std::uint64_t seed);

}  // namespace berth
