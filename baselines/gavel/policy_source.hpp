// A policy as the round mechanism's source of allocations, and the scheduler that the two make.
#pragma once

#include <memory>
#include <span>

#include "baselines/gavel/problem.hpp"
#include "baselines/gavel/round_mechanism.hpp"
#include "env/sim/scheduler.hpp"

namespace berth::gavel {

class PolicySource : public AllocationSource {
 public:
  virtual bool reads_future() const = 0;  // then the scheduler needs Knowledge::kEstimate
  virtual void Reset(const ClusterView& view) = 0;
};

// What a policy is asked of these jobs; remaining and since only where it reads the future.
void DescribeProblem(const ClusterView& view, std::span<const int> jobs, bool reads_future, Problem& problem);

std::unique_ptr<Scheduler> RunInRounds(std::unique_ptr<PolicySource> source, const MechanismOptions& options);

}  // namespace berth::gavel
