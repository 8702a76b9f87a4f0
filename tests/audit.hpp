// What the checkers are shown of a simulator: a frame that a test may spoil before showing it.
#pragma once

#include <string>
#include <vector>

#include "env/sim/auditor.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"

namespace berth::test {

struct Frame {
  SimState state;
  std::vector<double> busy_seconds;  // [G]
  double job_seconds = 0.0;

  explicit Frame(const Simulator& simulator) : state(simulator.state()), job_seconds(simulator.JobSeconds()) {
    for (int type = 0; type < simulator.scenario().num_types(); ++type) {
      busy_seconds.push_back(simulator.BusySeconds(type));
    }
  }
  InvariantInput Invariant(const Scenario& scenario) const { return {scenario, state, busy_seconds}; }
  AuditInput Audit(const Scenario& scenario) const { return {scenario, state, busy_seconds, job_seconds}; }
};

// "" or the first rule broken, of both checkers. Call after every advance and every decision.
inline std::string Observe(Auditor& auditor, const Simulator& simulator) {
  std::vector<double> busy;
  for (int type = 0; type < simulator.scenario().num_types(); ++type)
    busy.push_back(simulator.BusySeconds(type));
  const std::string violation = CheckInvariants({simulator.scenario(), simulator.state(), busy});
  if (!violation.empty()) return violation;
  return auditor.Observe({simulator.scenario(), simulator.state(), busy, simulator.JobSeconds()});
}

}  // namespace berth::test
