// The rules that a state must obey at any moment, whatever led to it: recounted from the device map, the
// phases and the scenario, knowing nothing of the simulator. What must hold from one moment to the next is
// the auditor's (env/sim/auditor.hpp).
#pragma once

#include <span>
#include <string>

#include "env/sim/scenario.hpp"
#include "env/sim/sim_state.hpp"

namespace berth {

struct InvariantInput {
  const Scenario& scenario;
  const SimState& state;
  std::span<const double> busy_seconds;  // [G] GPU-seconds held, Simulator::BusySeconds
};

struct Invariant {
  const char* name;
  std::string (*violation)(const InvariantInput& input);  // "" when it holds
};
std::span<const Invariant> Invariants();  // but for those of features, which have their names

// The first rule that is broken, "name: what", or "".
std::string CheckInvariants(const InvariantInput& input);

}  // namespace berth
