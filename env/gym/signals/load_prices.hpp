// What a second of a GPU of each type, and of a job's own time, is worth where all that is to be done shall
// be done soonest: the dual of the linear program that spreads each job over the types at will, never on two
// at once (R | pmtn | Cmax: Lawler & Labetoulle 1978).
#pragma once

#include <span>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

// Of a job: `work` GPU s on its fastest type (or a second of them that arrive), and how fast it is on each
// type against that, 0 to 1; 0: cannot run there. `alone`: s on its fastest type, in which nobody can help
// it; 0 where that binds nothing, as of what arrives in the course of time.
struct TypedWork {
  double work;
  std::vector<double> speed;  // [G]
  double alone = 0.0;
};

// Prices >= 0, sum over types of whole GPUs of gpus x price + sum over jobs of own = 1, and `load`, the sum
// over jobs of the least (work x price + alone x own) / speed under them; a slice has its part of the price
// of its GPU, beside which it is none: no spread of the jobs over the types takes less time (or, of work a
// second, keeps the busiest type busy for a smaller share). So the best that 200 steps of multiplicative
// weights find (Plotkin, Shmoys & Tardos 1995) is a lower bound whatever they lack.
struct LoadPrices {
  double load = 0.0;
  std::vector<double> price;  // [G]
  std::vector<double> own;    // [jobs]
};
// `parts`: of each type; none = all are whole. `gpus` of slices are not read.
LoadPrices FindLoadPrices(std::span<const TypedWork> jobs, std::span<const double> gpus,
                          std::span<const TypePart> parts = {});

}  // namespace berth
