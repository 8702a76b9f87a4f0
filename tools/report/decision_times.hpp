// How long a scheduler takes to decide, as a histogram: a run of a million decisions costs no more memory
// than one of ten.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "env/sim/scheduler.hpp"

namespace berth {

// Bins of equal width on a logarithmic scale: 16 a decade from 10 ns to 100 s; what is shorter or longer
// counts in the first or the last.
class DecisionTimes {
 public:
  static constexpr int kBinsPerDecade = 16;
  static constexpr int kDecades = 10;
  static constexpr double kLowestUs = 0.01;

  void Add(double us);
  void Add(const DecisionTimes& other);
  static std::vector<double> EdgesUs();                                // [bins + 1]
  const std::vector<std::int64_t>& counts() const { return counts_; }  // [bins]

 private:
  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(kBinsPerDecade * kDecades, 0);
};

// Decides as `inner` does and times every decision into `times`, which outlives it.
std::unique_ptr<Scheduler> TimeDecisions(std::unique_ptr<Scheduler> inner, DecisionTimes& times);

}  // namespace berth
