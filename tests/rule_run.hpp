// The real simulator under a rule of the brute-force ones (tick_simulator.hpp), watched by both checkers.
#pragma once

#include <vector>

#include "env/sim/scenario.hpp"
#include "tests/tick_simulator.hpp"

namespace berth::test {

struct RuleRun {
  std::vector<double> completion;  // s, of each job; kNever = dropped
  std::vector<double> decided_at;  // s, of each decision point
  int stops = 0;                   // jobs that a plan left out while they ran
};

// What the plan leaves out is stopped, what it adds is started. REQUIREs that the run finishes and that no
// invariant and no book of the auditor is broken after any advance or decision.
RuleRun RunByRule(const Scenario& scenario, TickRule rule);

}  // namespace berth::test
