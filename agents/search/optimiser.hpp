// What a search asks for points and tells what they cost. The optimisers are cma_es.hpp and
// mirrored_noise.hpp; both work on numbers in units of their scales.
//
//   const auto& points = optimiser.Ask();
//   optimiser.Tell(costs_of(points), /*spent=*/0.25);
//   optimiser.mean();
//
// Repeats by seed. Thread rule: one thread at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "env/base/check.hpp"

namespace berth::search {

// The numbers that are searched. [n], scales > 0: what is a step of 1.
struct Space {
  std::vector<double> start, scales;
};

// What points cost on the same workloads (common random numbers), and what the scheduler beside which they
// are seen costs there. All > 0, or >= 0 where they may be none; NaN: it has no cost, its jobs were not done.
struct Costs {
  std::vector<std::vector<double>> of;  // [points][workloads]
  std::vector<double> reference;        // [workloads]
  std::int64_t decisions = 0;           // that it took to find out
  bool may_be_none = false;             // such as missed deadlines: of 0 there is no ratio
  // How much more one cost is than another of the same workload: what is averaged over workloads.
  double More(double cost, double than) const { return may_be_none ? cost - than : std::log(cost / than); }
};

// [points] what a search minimises: the mean over workloads of ln(cost / the reference's), or of the
// difference where costs may be none. NaN where a workload has no cost.
inline std::vector<double> Values(const Costs& costs) {
  std::vector<double> values;
  for (const std::vector<double>& cost : costs.of) {
    double sum = 0.0;
    for (std::size_t i = 0; i < cost.size(); ++i) sum += costs.More(cost[i], costs.reference[i]);
    values.push_back(sum / static_cast<double>(cost.size()));
  }
  return values;
}

// A counter out of a state, which may come from a file. Throws Error.
inline std::uint64_t Counter(double number, double most) {
  if (!(number >= 0.0 && number <= most))
    throw Error(Join("a search's state: expected a counter of 0 to ", most, ", found ", number));
  return static_cast<std::uint64_t>(number);
}

class Optimiser {
 public:
  virtual ~Optimiser() = default;
  // The next generation: [points][n].
  virtual const std::vector<std::vector<double>>& Ask() = 0;
  // Costs of the points of the last Ask, when `spent` of the budget was gone as they were asked for, in
  // [0, 1]. Gives back a value that says how the search does, to be shown.
  virtual double Tell(const Costs& costs, double spent) = 0;
  virtual std::vector<double> mean() const = 0;  // [n] where the search is; under noise the answer
  virtual double step() const = 0;               // how far from it the next points are, in scales
  // All that changes, as numbers: an optimiser made alike and restored goes on bit for bit. Between a Tell
  // and the next Ask. REQUIRES of Restore: of as many numbers as State.
  virtual std::vector<double> State() const = 0;
  virtual void Restore(std::span<const double> state) = 0;
};

}  // namespace berth::search
