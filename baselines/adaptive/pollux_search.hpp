// A better search for what Pollux asks (pollux_objective.hpp) than its genetic one. The relaxed problem
// (pollux_bound.hpp) is solved exactly and its choices are packed on nodes. Then ruin and recreate (Schrimpf
// et al., J. Comput. Phys. 159, 2000): jobs on a few nodes leave and come back, by dynamic programming over
// the GPUs they left or by growing where a GPU wins most; what costs little more stays at first, then only
// what costs no more. It ends early where the bound is reached: then nothing is better.
//
//   const Searched found = Search(objective, seeds, {}, stream);
#pragma once

#include <cstdint>
#include <span>

#include "baselines/adaptive/pollux_genetic.hpp"
#include "baselines/adaptive/pollux_objective.hpp"
#include "env/base/rng.hpp"

namespace berth::pollux {

struct SearchOptions {
  int rounds = 4000;  // of ruin and recreate, about 3 microseconds each
};

struct Searched : Found {
  double bound = 0.0;    // no allocation has more fitness
  bool optimal = false;  // the bound is reached, to 1e-9 of the cost
  int rounds = 0;        // that were used
};

// `seeds`: legal allocations, such as the present one or a genetic search's last; what is found is never less
// fit than the fittest of them. At least one job.
Searched Search(const Objective& objective, std::span<const Allocation> seeds, const SearchOptions& options,
                Stream& stream);

}  // namespace berth::pollux
