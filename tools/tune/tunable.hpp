// What `berth tune` searches: numbers, the scheduler that they make, and how the answer is written down. A
// scheduler's numeric parameters (scheduler_numbers.hpp), the weights of a frozen policy
// (policy_weights.hpp), or the numbers of a new policy for batch logs (hinge_scorer.hpp).
// Thread rule: const, any thread at once.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "agents/search/optimiser.hpp"
#include "env/sim/scheduler.hpp"
#include "policies/bundle.hpp"

namespace berth {

class Tunable {
 public:
  virtual ~Tunable() = default;
  // Where the search starts, and what is a step of 1 for each number.
  virtual search::Space Space() const = 0;
  // Throws Error for numbers that the scheduler refuses.
  virtual std::unique_ptr<Scheduler> Make(std::span<const double> point) const = 0;
  // How --schedulers names the point; "" of a policy, which is named by its file.
  virtual std::string SpecOf(std::span<const double> point) const = 0;
  // Writes the answer: of a policy with examples that prove it, and `how` it was found.
  virtual void Save(std::span<const double> point, const Provenance& how, const std::string& path) const = 0;
};

}  // namespace berth
