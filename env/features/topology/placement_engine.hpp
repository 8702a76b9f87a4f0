// The part of the simulator that is the feature topology.
#pragma once

#include <string>
#include <vector>

#include "env/features/topology/placement.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

struct InvariantInput;

class PlacementEngine {
 public:
  static void Start(Simulator& simulator);
  static PlacementState MakeState(const Scenario& scenario);  // all idle, nobody waits
  // Devices for an order that names none; false = no node has the resources.
  static bool Choose(const Simulator& simulator, const Command& command, int width,
                     std::vector<int>& devices);
  static void Take(Simulator& simulator, int job);                 // placed on devices of its own
  static void TakeBeside(Simulator& simulator, int job);           // packed on its host's
  static void Give(Simulator& simulator, int job);                 // before it releases its devices
  static void Service(Simulator& simulator, int device, bool in);  // an idle device
  static void LeaveUnplaced(Simulator& simulator, const Command& command);
  // Of a pack, whose host may have been left unplaced; false = the order is left unplaced too.
  static bool PlacePack(Simulator& simulator, const Command& command);
  // Orders that name devices, against the resources of the devices' nodes.
  static ApplyResult Validate(const Simulator& simulator, const Decision& decision);
  static double Factor(const Scenario& scenario, const SimState& state, int job);  // where it now is
  static void Count(Simulator& simulator);    // whoever changed since the last time
  static void Measure(Simulator& simulator);  // fragmentation, after a decision
};

std::string PlacementViolation(const InvariantInput& input);  // env/sim/invariants.hpp

}  // namespace berth
