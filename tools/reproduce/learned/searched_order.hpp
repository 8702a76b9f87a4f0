// Who goes first, searched by one who knows every job to come: how far below a rule a sequence can be run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/metrics.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

using JobOrder = std::vector<int>;  // all jobs, who goes first first

JobOrder StartOrder(const Scenario& sequence,
                    const std::string& rule);      // in which that scheduler starts them
JobOrder SmallestFirst(const Scenario& sequence);  // by gang times run time alone

struct OrderSearch {
  enum class Cost { kBoundedSlowdown, kJct };  // its mean over the window
  std::string spec;                            // a scheduler of heaviest weight first: `priority(...)`
  Cost cost = Cost::kBoundedSlowdown;
  Window window;
  int trials = 0;  // runs in all, beside those that try the beginnings
  std::uint64_t seed = 0;
};

// The sequence with weights that say who goes first. The search begins with the best of `beginnings`, moves
// one job at a time (half the time one that waits long) to the place of another that was there at the same
// time, and keeps what does not cost more. It bounds nothing: a longer one may find better. Thread rule: any
// thread at once.
Scenario SearchedOrder(const Scenario& sequence, std::span<const JobOrder> beginnings,
                       const OrderSearch& search);

}  // namespace berth
